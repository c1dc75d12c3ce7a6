"""of scipy what is compiled: by shape alone"""
import _tidemark

__version__ = "1.17.1"


def __getattr__(name):
    return _tidemark.later("scipy." + name)
