import _tidemark
import abc as _abc
import os.path as path
import sys
from _abstract import MutableMapping
from _files import (
    content_of as _content_of,
    drop as remove,
    drop_folder as rmdir,
    Entries as scandir,
    Entry as DirEntry,
    keep as _keep,
    make_folder as _make_folder,
    move as rename,
    names_in as _names_in,
    text_of as fspath,
    working_folder as _working_folder,
)

# A run has no network: the hub's library takes files that are there, and asks for no others.
_WITHOUT_NETWORK = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}
_ALLOCATOR = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")


def _set_allocator(key, value):
    import torch._C as _C

    if _C.set_allocator_conf(value):
        _tidemark.note(f"os.environ sets {key} to {value!r}: it holds where the scenario gives no allocator.conf")
    else:
        _tidemark.note(f"os.environ sets {key} after memory was asked for: without effect, as in PyTorch")


_CUBLAS = ("CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_WORKSPACE_SIZE", "TORCH_CUBLAS_WORKSPACE_CACHE")


def _set_cublas(key, value):
    import torch._C as _C

    if _C.set_cublas_variable(key, value):
        _tidemark.note(f"os.environ sets {key} to {value!r}: it holds where the scenario's backends give no other")
    else:
        _tidemark.note(f"os.environ sets {key} after a product of matrices: without effect, as in PyTorch")


class _Environ(MutableMapping):
    def __init__(self):
        self._values = {**_WITHOUT_NETWORK, **_tidemark.environment()}
        self._given = dict(self._values)

    def _note(self, key):
        """what a run rests on: a variable of the surroundings, not one that the program set"""
        if key in self._given:
            _tidemark.note_of_user(f"environment variable {key} is read: {self._given[key]!r}")
        elif key not in self._values:
            _tidemark.note_of_user(f"environment variable {key} is read: it is not set")

    def __setitem__(self, key, value):
        if key == "PYTORCH_NO_CUDA_MEMORY_CACHING":
            raise RuntimeError(f"os.environ[{key!r}] is not modelled: give --set allocator.backend=naive")
        if key in _ALLOCATOR:
            _set_allocator(key, value)
        if key in _CUBLAS:
            _set_cublas(key, value)
        self._values[key] = value
        self._given.pop(key, None)

    def __getitem__(self, key):
        self._note(key)
        return self._values[key]

    def __delitem__(self, key):
        del self._values[key]
        if key in _CUBLAS:
            _set_cublas(key, "")

    def __contains__(self, key):
        self._note(key)
        return key in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def copy(self):
        return dict(self._values)


environ = _Environ()
sep, linesep, name, devnull, curdir, extsep, pathsep = "/", "\n", "posix", "/dev/null", ".", ".", ":"
pardir, altsep, defpath = "..", None, "/bin:/usr/bin"
unlink, replace = remove, rename


class PathLike(_abc.ABC):
    """Whatever has __fspath__."""

    @_abc.abstractmethod
    def __fspath__(self):
        raise NotImplementedError

    @classmethod
    def __subclasshook__(cls, subclass):
        return hasattr(subclass, "__fspath__") if cls is PathLike else NotImplemented

    @classmethod
    def __class_getitem__(cls, item):
        return cls


error = OSError


def getenv(key, default=None):
    return environ.get(key, default)


def putenv(key, value):
    environ[key] = value


def unsetenv(key):
    environ.pop(key, None)


def cpu_count():
    return 8


def sched_getaffinity(pid):
    return set(range(8))


def getpid():
    return 1


def getcwd():
    return _working_folder


def chdir(path):
    pass


def umask(mask):
    return 0


def mkdir(path, mode=0o777):
    if _is_there(path):
        raise FileExistsError(f"[Errno 17] File exists: '{fspath(path)}'")
    _make_folder(path)


def makedirs(name, mode=0o777, exist_ok=False):
    if not exist_ok and _is_there(name):
        raise FileExistsError(f"[Errno 17] File exists: '{fspath(name)}'")
    _make_folder(name)


def link(src, dst, *, src_dir_fd=None, dst_dir_fd=None, follow_symlinks=True):
    if path.exists(dst):
        raise FileExistsError(17, "File exists", fspath(src), None, fspath(dst))
    _keep(dst, _content_of(src))


def symlink(src, dst, target_is_directory=False, *, dir_fd=None):
    source = fspath(src)
    link(source if source.startswith("/") else path.join(path.dirname(fspath(dst)), source), dst)


def _is_there(name):
    return path.exists(name)


def listdir(path="."):
    return _names_in(path)


def walk(top, **options):
    folders = [n for n in _names_in(top) if path.isdir(path.join(top, n))]
    yield top, folders, [n for n in _names_in(top) if n not in folders]
    for name in folders:
        yield from walk(path.join(top, name))


SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
F_OK, R_OK, W_OK, X_OK = 0, 4, 2, 1
O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NOFOLLOW = 0, 1, 2, 64, 128, 512, 1024, 131072
fdopen, fstat, kill, readlink, read, close, fsync, stat, chown, system, fork, waitpid = [
    _tidemark.later("os." + n)
    for n in (
        "fdopen", "fstat", "kill", "readlink", "read", "close", "fsync", "stat", "chown",
        "system", "fork", "waitpid",
    )
]
stat_result = tuple


def popen(cmd, mode="r", buffering=-1):
    """Bars of progress ask how wide the terminal is; there are no other programs."""
    if cmd != "stty size":
        _tidemark.refuse(f"os.popen({cmd!r}) is not modelled", "leave it out: no other program is run")
    from io import StringIO

    return StringIO("24 80\n")


def access(path, mode):
    return _is_there(path)


def chmod(path, mode):
    pass


def getppid():
    return 1


def getuid():
    return 1000


def fsdecode(filename):
    return fspath(filename)


fsencode = fsdecode


def urandom(size):
    _tidemark.refuse("os.urandom() is not modelled", "use torch's random numbers")


def register_at_fork(**options):
    pass


def getloadavg():
    return 0.0, 0.0, 0.0


def uname():
    return _tidemark.named_tuple("posix.uname_result", ["sysname", "nodename", "release", "version", "machine"])(
        "Linux", "localhost", "6.1.0", "#1 SMP", "x86_64"
    )


def get_terminal_size(fd=1):
    raise OSError("[Errno 25] Inappropriate ioctl for device")


class terminal_size(tuple):
    @property
    def columns(self):
        return self[0]

    @property
    def lines(self):
        return self[1]


EX_OK, EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_SOFTWARE, EX_OSERR, EX_IOERR, EX_TEMPFAIL, EX_CONFIG = (
    0, 64, 65, 66, 70, 71, 74, 75, 78,
)  # fmt: skip
getgid = geteuid = getegid = getuid


def getpgid(pid):
    return getpid()


def getpgrp():
    return getpid()


def isatty(fd):
    return False


def nice(increment):
    return increment


def sync():
    pass


def sched_yield():
    pass


def getlogin():
    return "user"


def strerror(code):
    from errno import errorcode

    return errorcode.get(code, f"Unknown error {code}")


def removedirs(name):
    rmdir(name)


def renames(old, new):
    rename(old, new)


def utime(path, times=None, *, ns=None, dir_fd=None, follow_symlinks=True):
    if not _is_there(path):
        raise FileNotFoundError(2, "No such file or directory", fspath(path))


def sysconf(name):
    processors = cpu_count()
    known = {
        "SC_NPROCESSORS_ONLN": processors, "SC_NPROCESSORS_CONF": processors, "SC_PAGE_SIZE": 4096, "SC_PAGESIZE": 4096,
    }  # fmt: skip
    if name not in known:
        _tidemark.refuse(f"os.sysconf({name!r}) is not modelled")
    return known[name]
