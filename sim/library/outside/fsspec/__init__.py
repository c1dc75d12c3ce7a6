import _tidemark
import fsspec.core
import fsspec.implementations.local
import fsspec.spec
import fsspec.utils
from fsspec.core import url_to_fs
from fsspec.spec import AbstractFileSystem

__version__ = "2025.10.0"


def filesystem(protocol, **storage_options):
    return url_to_fs(protocol + "://" if protocol else "", **storage_options)[0]


def __getattr__(name):
    return _tidemark.later("fsspec." + name)
