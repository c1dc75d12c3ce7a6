class Logger:
    """writes nothing: what is logged is read back on the host"""

    def __init__(self, logdir=None, flush_secs=2, is_dummy=False, dummy_time=None):
        self.logdir = logdir

    def log_value(self, name, value, step=None):
        return self

    log_images = log_histogram = log_value


def configure(logdir, flush_secs=2):
    pass


def log_value(name, value, step=None):
    pass


log_images = log_histogram = log_value
