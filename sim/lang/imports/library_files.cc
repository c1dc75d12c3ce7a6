#include <array>

#include "sim/lang/imports/library_code.h"

/// Files as a program sees them: those that it wrote itself, kept for the length of the run. There
/// are no others, and nothing reaches the disk.
namespace tidemark::lang {

namespace {

constexpr std::string_view kTable = R"py(
import _tidemark

files = {}
folders = {"/": True, ".": True, "": True, "/tmp": True}


def text_of(path):
    return path if isinstance(path, str) else path.__fspath__()


def clean(path):
    parts, out = text_of(path).split("/"), []
    for part in parts:
        if part == ".." and out and out[-1] != "..":
            out.pop()
        elif part not in ("", "."):
            out.append(part)
    return ("/" if parts[0] == "" and len(parts) > 1 else "") + "/".join(out) or "."


def is_file(path):
    return clean(path) in files


def is_folder(path):
    return clean(path) in folders


def keep(path, content):
    files[clean(path)] = content


def content_of(path):
    """what the program itself put there"""
    name = clean(path)
    if name not in files:
        _tidemark.refuse(f"there is no file '{text_of(path)}' here", "a run sees the files that the program wrote itself")
    return files[name]


def make_folder(path):
    parts = clean(path).split("/")
    for i in range(len(parts)):
        folders["/".join(parts[:i + 1])] = True


def names_in(path):
    start = clean(path)
    start = "" if start == "." else start.rstrip("/") + "/"
    names = {}
    for name in [*files, *folders]:
        if name.startswith(start) and name not in ("", ".", "/"):
            names[name[len(start):].split("/")[0]] = True
    return sorted(names)


def drop(path):
    name = clean(path)
    if name not in files:
        raise FileNotFoundError(f"[Errno 2] No such file or directory: '{text_of(path)}'")
    del files[name]


def drop_folder(path):
    name = clean(path)
    for table in (files, folders):
        for other in list(table):
            if other == name or other.startswith(name + "/"):
                del table[other]


def move(src, dst):
    files[clean(dst)] = content_of(src)
    drop(src)


class File:
    """text, or what torch.save() put there; `name` None: in memory"""

    closed = False

    def __init__(self, name=None, mode="w+", content=None):
        self.name, self.mode = name, mode
        self._content = [] if content is None else content
        self._at = 0
        if name is not None and "r" not in mode:
            self._content = files[clean(name)] if "a" in mode and is_file(name) else []
            keep(name, self._content)

    def _text(self):
        for piece in self._content:
            if not isinstance(piece, str):
                _tidemark.refuse("reading a file that torch.save() wrote as bytes is not modelled", "read it with torch.load()")
        return "".join(self._content)

    def write(self, text):
        self._content.append(text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def read(self, size=-1):
        text = self._text()[self._at:]
        text = text if size is None or size < 0 else text[:size]
        self._at += len(text)
        return text

    def readline(self):
        rest = self._text()[self._at:]
        end = rest.find("\n")
        return self.read(len(rest) if end < 0 else end + 1)

    def readlines(self):
        return list(iter(self))

    def __iter__(self):
        line = self.readline()
        while line:
            yield line
            line = self.readline()

    def getvalue(self):
        return self._text()

    def seek(self, offset, whence=0):
        self._at = offset
        return offset

    def tell(self):
        return self._at

    def truncate(self, size=None):
        self._content.clear()

    def flush(self):
        pass

    def fileno(self):
        return 3

    def isatty(self):
        return False

    def readable(self):
        return True

    writable = seekable = readable

    def close(self):
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
    if "r" in mode:
        return File(text_of(file), mode, content_of(file))
    if "x" in mode and is_file(file):
        raise FileExistsError(f"[Errno 17] File exists: '{text_of(file)}'")
    return File(text_of(file), mode)
)py";

constexpr std::string_view kIo = R"py(
from _files import File, open


class StringIO(File):
    def __init__(self, initial_value="", newline="\n"):
        super().__init__(None, "w+", [initial_value] if initial_value else None)


class BytesIO(File):
    def __init__(self, initial_bytes=None):
        super().__init__()
        if initial_bytes is not None:
            import _tidemark

            _tidemark.refuse("io.BytesIO of bytes is not modelled", "there are no bytes here: torch.save() into an empty one")

    def getbuffer(self):
        return self.getvalue()


TextIOWrapper = BufferedReader = BufferedWriter = IOBase = RawIOBase = File
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
)py";

constexpr std::string_view kOsPath = R"py(
from _files import clean as normpath, is_file as isfile, is_folder as isdir, text_of as _text

sep = "/"


def join(first, *rest):
    out = _text(first)
    for part in rest:
        part = _text(part)
        out = part if part.startswith("/") else out + part if out == "" or out.endswith("/") else out + "/" + part
    return out


def basename(p):
    return _text(p).split("/")[-1]


def dirname(p):
    return "/".join(_text(p).split("/")[:-1])


def split(p):
    return dirname(p), basename(p)


def splitext(p):
    p = _text(p)
    name = basename(p).lstrip(".")
    if "." not in name:
        return p, ""
    end = "." + name.split(".")[-1]
    return p[:len(p) - len(end)], end


def exists(path):
    return isfile(path) or isdir(path)


lexists = exists


def islink(path):
    return False


def isabs(s):
    return _text(s).startswith("/")


def abspath(path):
    return normpath(path) if isabs(path) else normpath("/" + _text(path))


realpath = abspath


def relpath(path, start="."):
    path, start = abspath(path), abspath(start)
    return path[len(start):].lstrip("/") if path.startswith(start) else path


def expanduser(path):
    return _text(path).replace("~", "/root", 1) if _text(path).startswith("~") else _text(path)


def expandvars(path):
    return _text(path)


def getsize(filename):
    import _tidemark

    _tidemark.refuse("the size of a file is not modelled", "leave it out: nothing on the device depends on it")


def commonprefix(m):
    m = list(m)
    least, most = min(m, default=""), max(m, default="")
    n = 0
    while n < len(least) and least[n] == most[n]:
        n += 1
    return least[:n]
)py";

constexpr std::string_view kOs = R"py(
import _os_path as path
from _abstract import MutableMapping
from _files import drop as remove, drop_folder as rmdir, make_folder as _make_folder, move as rename, names_in as _names_in, text_of as fspath

_ALLOCATOR = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING")


class _Environ(MutableMapping):
    def __init__(self):
        self._values = {}

    def __setitem__(self, key, value):
        if key in _ALLOCATOR:
            raise RuntimeError(f"os.environ[{key!r}] is not modelled: give --set allocator.conf={value}")
        self._values[key] = value

    def __getitem__(self, key):
        return self._values[key]

    def __delitem__(self, key):
        del self._values[key]

    def __contains__(self, key):
        return key in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def copy(self):
        return dict(self._values)


environ = _Environ()
sep, linesep, name, devnull, curdir, extsep, pathsep = "/", "\n", "posix", "/dev/null", ".", ".", ":"
unlink, replace = remove, rename
PathLike = object
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
    return "."


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


def _is_there(name):
    return path.exists(name)


def listdir(path="."):
    return _names_in(path)


def walk(top, **options):
    folders = [n for n in _names_in(top) if path.isdir(path.join(top, n))]
    yield top, folders, [n for n in _names_in(top) if n not in folders]
    for name in folders:
        yield from walk(path.join(top, name))


def get_terminal_size(fd=1):
    raise OSError("[Errno 25] Inappropriate ioctl for device")
)py";

constexpr std::string_view kPathlib = R"py(
import _files
import _os_path


class Path:
    """a path as text"""

    def __init__(self, *parts):
        self._text = _os_path.join(*parts) if parts else "."
        if len(self._text) > 1:
            self._text = self._text.rstrip("/")
        if self._text.startswith("./"):
            self._text = self._text[2:]

    @classmethod
    def cwd(cls):
        return cls("/")

    @classmethod
    def home(cls):
        return cls("/root")

    def __truediv__(self, other):
        return Path(self, other)

    def __rtruediv__(self, other):
        return Path(other, self)

    def joinpath(self, *others):
        return Path(self, *others)

    @property
    def name(self):
        return self._text.split("/")[-1]

    @property
    def suffix(self):
        return "." + self.name.split(".")[-1] if "." in self.name.lstrip(".") else ""

    @property
    def suffixes(self):
        return ["." + s for s in self.name.lstrip(".").split(".")[1:]]

    @property
    def stem(self):
        return self.name[:len(self.name) - len(self.suffix)]

    @property
    def parent(self):
        if "/" not in self._text:
            return Path()
        return Path("/".join(self._text.split("/")[:-1]) or "/")

    @property
    def parents(self):
        out, at = [], self
        while at.parent != at:
            at = at.parent
            out.append(at)
        return out

    @property
    def parts(self):
        return tuple(p or "/" for p in self._text.split("/"))

    def with_suffix(self, suffix):
        return Path(self._text[:len(self._text) - len(self.suffix)] + suffix)

    def with_name(self, name):
        return self.parent / name

    def with_stem(self, stem):
        return self.parent / (stem + self.suffix)

    def resolve(self, strict=False):
        return Path(_os_path.abspath(self))

    absolute = resolve

    def expanduser(self):
        return Path(_os_path.expanduser(self))

    def is_absolute(self):
        return self._text.startswith("/")

    def relative_to(self, other):
        return Path(_os_path.relpath(self, other))

    def mkdir(self, mode=511, parents=False, exist_ok=False):
        if not exist_ok and self.exists():
            raise FileExistsError(f"[Errno 17] File exists: '{self._text}'")
        _files.make_folder(self)

    def touch(self, mode=438, exist_ok=True):
        if not self.exists():
            _files.keep(self, [])

    def exists(self):
        return _os_path.exists(self)

    def is_file(self):
        return _files.is_file(self)

    def is_dir(self):
        return _files.is_folder(self)

    def unlink(self, missing_ok=False):
        if not missing_ok or self.exists():
            _files.drop(self)

    def rename(self, target):
        _files.move(self, target)
        return Path(target)

    replace = rename

    def rmdir(self):
        _files.drop_folder(self)

    def open(self, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
        return _files.open(self, mode)

    def write_text(self, data, encoding=None, errors=None, newline=None):
        return _files.open(self, "w").write(data)

    def read_text(self, encoding=None, errors=None):
        return _files.open(self).read()

    def iterdir(self):
        return iter([self / name for name in _files.names_in(self)])

    def glob(self, pattern):
        from fnmatch import fnmatch

        return iter([self / name for name in _files.names_in(self) if fnmatch(name, pattern)])

    rglob = glob

    def as_posix(self):
        return self._text

    def __str__(self):
        return self._text

    __fspath__ = __str__

    def __repr__(self):
        return f"PosixPath('{self._text}')"

    def __eq__(self, other):
        return isinstance(other, Path) and self._text == other._text

    def __lt__(self, other):
        return self._text < other._text

    def __hash__(self):
        return hash(self._text)


PurePath = PosixPath = PurePosixPath = Path
)py";

constexpr std::array kFiles = std::to_array<LibraryFile>({
    {"_files", kTable},
    {"_os_path", kOsPath},
    {"io", kIo},
    {"os", kOs},
    {"os.path", kOsPath},
    {"pathlib", kPathlib},
});

}  // namespace

std::span<const LibraryFile> library_file_files() { return kFiles; }

}  // namespace tidemark::lang
