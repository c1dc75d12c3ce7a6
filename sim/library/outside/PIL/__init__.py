import _tidemark

__version__ = "13.0.0"


class UnidentifiedImageError(OSError):
    pass


def __getattr__(name):
    return _tidemark.later("PIL." + name)
