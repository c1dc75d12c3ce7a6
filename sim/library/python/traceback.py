def print_exc(limit=None, file=None, chain=True):
    pass


def print_exception(exc, *args, **options):
    pass


def print_stack(*args, **options):
    pass


def format_exc(limit=None, chain=True):
    return ""


def format_exception(exc, *args, **options):
    return [f"{type(exc).__name__}: {exc}\n"]


def format_exception_only(exc, *args):
    return [f"{type(exc).__name__}: {exc}\n"]


def extract_stack(*args):
    return []


def format_stack(*args):
    return []


def walk_tb(tb):
    while tb is not None:
        yield tb.tb_frame, tb.tb_lineno
        tb = tb.tb_next


def format_tb(tb, limit=None):
    return []


extract_tb = format_list = format_tb


def print_tb(tb, limit=None, file=None):
    pass
