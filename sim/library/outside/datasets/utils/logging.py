"""How much datasets says."""


def set_verbosity(verbosity):
    pass


def set_verbosity_error():
    pass


set_verbosity_warning = set_verbosity_info = set_verbosity_debug = set_verbosity_error
disable_progress_bar = enable_progress_bar = set_verbosity_error
