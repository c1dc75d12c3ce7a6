"""File systems as classes to inherit from. No file is opened through one."""
import _tidemark


class _Cached(type):
    def __init__(cls, *args, **kwargs):
        super().__init__(*args, **kwargs)
        cls._cache = {}


class Transaction:
    """what is written within stays written, as in a local file system that is not interrupted"""

    def __init__(self, fs, **kwargs):
        self.fs = fs

    def __enter__(self):
        self.fs._intrans = True
        return self

    def __exit__(self, kind, error, trace):
        self.fs._intrans, self.fs._transaction = False, None


class AbstractFileSystem(metaclass=_Cached):
    transaction_type = Transaction
    cachable, blocksize, sep, protocol = True, 2 ** 22, "/", "abstract"
    root_marker, async_impl, _extra_tokenize_attributes = "", False, ()

    def __init__(self, *args, **storage_options):
        self._intrans, self._transaction, self._invalidated_caches_in_transaction = False, None, []
        self.dircache = {}
        self.storage_args, self.storage_options = args, storage_options

    @property
    def transaction(self):
        if self._transaction is None:
            self._transaction = self.transaction_type(self)
        return self._transaction

    def _nothing(self, *args, **kwargs):
        _tidemark.refuse(f"{type(self).__name__} reads no files here", "use files beside the script")

    open = ls = find = glob = walk = info = cat = cat_file = get = put = exists = isfile = isdir = _nothing


class AbstractBufferedFile:
    def __init__(self, fs, path, *args, **kwargs):
        self.fs, self.path = fs, path
        fs.open(path)
