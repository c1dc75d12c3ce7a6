class ChildFailedError(Exception):
    pass


def record(fn, error_handler=None):
    """what the function raises is written to a file for torchrun, and raised"""
    return fn
