"""Files that are compressed. What a run writes itself it keeps as it is; others are not taken apart."""
import _files
import _tidemark


class BadGzipFile(OSError):
    pass


def open(filename, mode="rb", compresslevel=9, encoding=None, errors=None, newline=None):
    is_own = _files.clean(filename) in _files.files
    if "r" in mode and not is_own and _files.is_file(filename):
        _tidemark.refuse(
            f"the compressed file '{_files.text_of(filename)}' is not read", "unpack it, and let the program open that"
        )
    return _files.open(filename, mode if "t" in mode or "b" in mode else mode + "b")


class GzipFile(_files.File):
    def __new__(cls, filename=None, mode="rb", compresslevel=9, fileobj=None, mtime=None):
        if fileobj is not None:
            _tidemark.refuse("gzip.GzipFile(fileobj=...) is not modelled")
        return open(filename, mode)

    def __init__(self, *args, **kwargs):
        pass
