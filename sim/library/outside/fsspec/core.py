import _tidemark
from fsspec.implementations.local import LocalFileSystem
from fsspec.utils import get_protocol


def url_to_fs(url, **kwargs):
    """the file system of an address, and the path in it"""
    if get_protocol(url) not in LocalFileSystem.protocol:
        _tidemark.refuse(f"fsspec reads no {get_protocol(url)}:// here", "name a folder beside the script")
    return LocalFileSystem(), LocalFileSystem._strip_protocol(url)


def __getattr__(name):
    return _tidemark.later("fsspec.core." + name)
