#include <array>

#include "sim/lang/imports/library_code.h"

/// More modules of Python's that scripts import: each in the part that scripts use.
namespace tidemark::lang {

namespace {

constexpr std::string_view kTypes = R"py(
import _tidemark
from _abstract import Mapping


class SimpleNamespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __repr__(self):
        return "namespace(" + ", ".join([f"{k}={v!r}" for k, v in self.__dict__.items()]) + ")"

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


def _function():
    pass


FunctionType = LambdaType = type(_function)
NoneType = type(None)
MethodType = type(SimpleNamespace().__repr__)
BuiltinFunctionType = type(len)
ModuleType = type(_tidemark)
GeneratorType = type((i for i in ()))


class MappingProxyType(Mapping):
    def __init__(self, mapping):
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"mappingproxy({self._mapping!r})"


)py";

constexpr std::string_view kString = R"py(
ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdef" + "ABCDEF"
octdigits = "01234567"
punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
whitespace = " \t\n\r"
printable = digits + ascii_letters + punctuation + whitespace
)py";

constexpr std::string_view kNumbers = R"py(
class _Kind:
    def __init__(self, *types):
        self._types = types

    def __instancecheck__(self, obj):
        return isinstance(obj, self._types)


Number = Complex = Real = _Kind(int, float)
Rational = Integral = _Kind(int)
)py";

constexpr std::string_view kDatetime = R"py(
# Every moment is the same one.
class timedelta:
    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        self._seconds = seconds + microseconds / 1000000 + milliseconds / 1000 + 60 * minutes + 3600 * hours + 86400 * (days + 7 * weeks)

    @property
    def days(self):
        return int(self._seconds // 86400)

    @property
    def seconds(self):
        return int(self._seconds % 86400)

    def total_seconds(self):
        return float(self._seconds)

    def __add__(self, other):
        return timedelta(seconds=self._seconds + other._seconds)

    def __sub__(self, other):
        return timedelta(seconds=self._seconds - other._seconds)

    def __str__(self):
        whole = int(self._seconds % 86400)
        text = f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
        days = self.days
        return text if days == 0 else f"{days} day{'' if abs(days) == 1 else 's'}, {text}"


class datetime:
    year, month, day, hour, minute, second, microsecond = 2000, 1, 1, 0, 0, 0, 0

    @classmethod
    def now(cls, tz=None):
        return cls()

    today = utcnow = now

    def strftime(self, format):
        for code, text in (("%Y", "2000"), ("%y", "00"), ("%m", "01"), ("%d", "01"), ("%b", "Jan"), ("%B", "January")):
            format = format.replace(code, text)
        for code in ("%H", "%M", "%S"):
            format = format.replace(code, "00")
        return format

    def isoformat(self, sep="T"):
        return "2000-01-01" + sep + "00:00:00"

    def timestamp(self):
        return 946684800.0

    def __sub__(self, other):
        return timedelta() if isinstance(other, datetime) else self

    def __add__(self, other):
        return self

    def __str__(self):
        return "2000-01-01 00:00:00"


date = datetime
)py";

constexpr std::string_view kHeapq = R"py(
def _down(heap, start, pos):
    item = heap[pos]
    while pos > start and item < heap[(pos - 1) >> 1]:
        heap[pos] = heap[(pos - 1) >> 1]
        pos = (pos - 1) >> 1
    heap[pos] = item


def _up(heap, pos):
    start, end, item = pos, len(heap), heap[pos]
    child = 2 * pos + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = item
    _down(heap, start, pos)


def heappush(heap, item):
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap):
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _up(heap, 0)
    return first


def heapify(x):
    for i in reversed(range(len(x) // 2)):
        _up(x, i)


def heappushpop(heap, item):
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _up(heap, 0)
    return item


def heapreplace(heap, item):
    first = heap[0]
    heap[0] = item
    _up(heap, 0)
    return first


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]
)py";

constexpr std::string_view kBisect = R"py(
def bisect_left(a, x, lo=0, hi=None):
    hi = len(a) if hi is None else hi
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def bisect_right(a, x, lo=0, hi=None):
    hi = len(a) if hi is None else hi
    while lo < hi:
        mid = (lo + hi) // 2
        if x < a[mid]:
            hi = mid
        else:
            lo = mid + 1
    return lo


bisect = bisect_right


def insort(a, x):
    a.insert(bisect_right(a, x), x)


insort_right = insort
)py";

// What __dict__ and vars() give: the attributes themselves, not a copy. `access`: functions of
// owner and table that give the names, and get, set and remove one.
constexpr std::string_view kAttributeTables = R"py(
import _tidemark


class _View:
    def __init__(self, table, part):
        self._table, self._part = table, part

    def _one(self, name):
        return name if self._part == "keys" else self._table[name] if self._part == "values" else (name, self._table[name])

    def __len__(self):
        return len(self._table)

    def __iter__(self):
        names = self._table._names()
        for name in names:
            if len(self._table) != len(names):
                raise RuntimeError("dictionary changed size during iteration")
            yield self._one(name)
        if len(self._table) != len(names):
            raise RuntimeError("dictionary changed size during iteration")

    def __reversed__(self):
        return iter([self._one(name) for name in self._table._names()[::-1]])

    def __contains__(self, item):
        return any([each == item for each in self])

    def __and__(self, other):
        return set(self) & set(other)

    def __or__(self, other):
        return set(self) | set(other)

    def __sub__(self, other):
        return set(self) - set(other)

    def __rsub__(self, other):
        return set(other) - set(self)

    def __eq__(self, other):
        return set(self) == set(other)

    def __repr__(self):
        return "dict_" + self._part + "(" + repr(list(self)) + ")"


class AttributeTable(_tidemark.mapping_base):
    def __init__(self, owner, table, access):
        self._owner, self._of, self._access = owner, table, access

    def _names(self):
        return self._access[0](self._owner, self._of)

    def _find(self, key):
        found = self._access[1](self._owner, self._of, key) if isinstance(key, str) else NotImplemented
        if found is NotImplemented and not self._of and key in getattr(type(self._owner), "_kept_apart", ()):
            return getattr(self._owner, key)  # its class holds it in another way
        return found

    def __len__(self):
        return len(self._names())

    def __iter__(self):
        return iter(_View(self, "keys"))

    def __reversed__(self):
        return iter(self._names()[::-1])

    def __contains__(self, key):
        return self._find(key) is not NotImplemented

    def __getitem__(self, key):
        found = self._find(key)
        if found is NotImplemented:
            raise KeyError(key)
        return found

    def __setitem__(self, key, value):
        if not isinstance(key, str):
            raise TypeError("names of attributes are strings")
        self._access[2](self._owner, self._of, key, value)

    def __delitem__(self, key):
        self[key]
        self._access[3](self._owner, self._of, key)

    def __eq__(self, other):
        return isinstance(other, dict) and dict(self) == dict(other)

    def __or__(self, other):
        return dict(self) | dict(other)

    def __ror__(self, other):
        return dict(other) | dict(self)

    def __ior__(self, other):
        self.update(other)
        return self

    def __repr__(self):
        return repr(dict(self))

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return _tidemark.deepcopy(dict(self))

    def keys(self):
        return _View(self, "keys")

    def values(self):
        return _View(self, "values")

    def items(self):
        return _View(self, "items")

    def get(self, key, default=None):
        return self[key] if key in self else default

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key, *default):
        if key not in self and default:
            return default[0]
        found = self[key]
        del self[key]
        return found

    def popitem(self, last=True):
        names = self._names()
        if not names:
            raise KeyError("popitem(): dictionary is empty")
        return names[-1], self.pop(names[-1])

    def update(self, *others, **kwargs):
        for key, value in dict(*others, **kwargs).items():
            self[key] = value

    def clear(self):
        for name in self._names():
            del self[name]

    def copy(self):
        return dict(self)


def of(owner):
    return AttributeTable(owner, "", _tidemark.attribute_access)
)py";

constexpr std::string_view kFnmatch = R"py(
def fnmatch(name, pat):
    if not pat:
        return not name
    if pat[0] == "*":
        return any([fnmatch(name[i:], pat[1:]) for i in range(len(name) + 1)])
    if not name:
        return False
    if pat[0] == "[" and "]" in pat:
        end = pat.index("]")
        wanted = pat[1:end]
        return (name[0] in wanted.lstrip("!")) != wanted.startswith("!") and fnmatch(name[1:], pat[end + 1:])
    return pat[0] in ("?", name[0]) and fnmatch(name[1:], pat[1:])


fnmatchcase = fnmatch


def filter(names, pat):
    return [name for name in names if fnmatch(name, pat)]
)py";

constexpr std::string_view kGlob = R"py(
import _files
from fnmatch import fnmatch


def glob(pathname, *, recursive=False, **options):
    folder, name = "/".join(pathname.split("/")[:-1]), pathname.split("/")[-1]
    found = [each for each in _files.names_in(folder or ".") if fnmatch(each, name)]
    return [folder + "/" + each if "/" in pathname else each for each in found]


def iglob(pathname, **options):
    return iter(glob(pathname))
)py";

constexpr std::string_view kShutil = R"py(
import _files


def rmtree(path, ignore_errors=False, onerror=None):
    _files.drop_folder(path)


def copyfile(src, dst):
    _files.keep(dst, _files.content_of(src))
    return dst


copy = copy2 = copyfile


def move(src, dst):
    _files.move(src, dst)
    return dst
)py";

constexpr std::string_view kTempfile = R"py(
import _files

_count = [0]


def _name(suffix, prefix):
    _count[0] += 1
    return f"/tmp/{prefix or 'tmp'}{_count[0]}{suffix or ''}"


def gettempdir():
    return "/tmp"


def mkdtemp(suffix=None, prefix=None, dir=None):
    name = _name(suffix, prefix)
    _files.make_folder(name)
    return name


class TemporaryDirectory:
    def __init__(self, suffix=None, prefix=None, dir=None, **options):
        self.name = mkdtemp(suffix, prefix)

    def cleanup(self):
        _files.drop_folder(self.name)

    def __enter__(self):
        return self.name

    def __exit__(self, *error):
        self.cleanup()


def NamedTemporaryFile(mode="w+b", *args, suffix=None, prefix=None, dir=None, delete=True, **options):
    return _files.File(_name(suffix, prefix), mode)


def TemporaryFile(mode="w+b", **options):
    return _files.File(None, mode)
)py";

constexpr std::array kFiles = std::to_array<LibraryFile>({
    {"_attribute_tables", kAttributeTables},
    {"fnmatch", kFnmatch},
    {"glob", kGlob},
    {"shutil", kShutil},
    {"tempfile", kTempfile},
    {"types", kTypes},
    {"string", kString},
    {"numbers", kNumbers},
    {"datetime", kDatetime},
    {"heapq", kHeapq},
    {"bisect", kBisect},
});

constexpr std::array kOutside = std::to_array<std::string_view>({
    "array",
    "ast",
    "asyncio",
    "base64",
    "builtins",
    "cProfile",
    "cmath",
    "codecs",
    "concurrent",
    "configparser",
    "ctypes",
    "decimal",
    "difflib",
    "email",
    "fractions",
    "gzip",
    "hashlib",
    "html",
    "http",
    "importlib",
    "linecache",
    "locale",
    "multiprocessing",
    "pdb",
    "pickle",
    "pkgutil",
    "profile",
    "pstats",
    "psutil",
    "resource",
    "sched",
    "secrets",
    "selectors",
    "shlex",
    "sqlite3",
    "struct",
    "subprocess",
    "tarfile",
    "unicodedata",
    "unittest",
    "urllib",
    "uuid",
    "weakref",
    "xml",
    "yaml",
    "zipfile",
    "zlib",
});

}  // namespace

std::span<const LibraryFile> library_module_files() { return kFiles; }

std::span<const std::string_view> modules_outside() { return kOutside; }

}  // namespace tidemark::lang
