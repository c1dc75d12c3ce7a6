"""File systems as classes to inherit from. No file is opened through one."""
import _tidemark


class _Cached(type):
    def __init__(cls, *args, **kwargs):
        super().__init__(*args, **kwargs)
        cls._cache = {}


class AbstractFileSystem(metaclass=_Cached):
    cachable, blocksize, sep, protocol = True, 2 ** 22, "/", "abstract"
    root_marker, async_impl, _extra_tokenize_attributes = "", False, ()

    def __init__(self, *args, **storage_options):
        self._intrans, self._transaction, self._invalidated_caches_in_transaction = False, None, []
        self.dircache = {}
        self.storage_args, self.storage_options = args, storage_options

    def _nothing(self, *args, **kwargs):
        _tidemark.refuse(f"{type(self).__name__} reads no files here", "use files beside the script")

    open = ls = find = glob = walk = info = cat = cat_file = get = put = exists = isfile = isdir = _nothing


class AbstractBufferedFile:
    def __init__(self, fs, path, *args, **kwargs):
        self.fs, self.path = fs, path
        fs.open(path)
