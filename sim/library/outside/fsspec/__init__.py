import _tidemark
from fsspec.spec import AbstractFileSystem

__version__ = "2025.10.0"


def __getattr__(name):
    return _tidemark.later("fsspec." + name)
