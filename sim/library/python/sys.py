import _tidemark
from importlib._machinery import PathFinder as _PathFinder

argv = _tidemark.arguments() or ["train.py"]
version_info = _tidemark.named_tuple("sys.version_info", ["major", "minor", "micro", "releaselevel", "serial"])(
    3, 11, 0, "final", 0
)
version = "3.11.0"
platform = "linux"
maxsize = 9223372036854775807
hexversion = 0x030B00F0
prefix = exec_prefix = base_prefix = "/usr"
maxunicode = 1114111
warnoptions = []
dont_write_bytecode = True


byteorder = "little"
executable = "/usr/bin/python3"
path = _tidemark.search_path()
modules = _tidemark.modules()


def exit(status=None):
    raise SystemExit(status)


def getrecursionlimit():
    return 1000


def setrecursionlimit(limit):
    pass


def _getframe(depth=0):
    found = _tidemark.frame(depth + 1)
    if found is None:
        raise ValueError("call stack is not deep enough")
    return found


def exc_info():
    error = _tidemark.handled()
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


float_info = _tidemark.named_tuple(
    "sys.float_info",
    ["max", "max_exp", "max_10_exp", "min", "min_exp", "min_10_exp", "dig", "mant_dig", "epsilon", "radix", "rounds"],
)(1.7976931348623157e308, 1024, 308, 2.2250738585072014e-308, -1021, -307, 15, 53, 2.220446049250313e-16, 2, 1)
int_info = _tidemark.named_tuple(
    "sys.int_info", ["bits_per_digit", "sizeof_digit", "default_max_str_digits", "str_digits_check_threshold"]
)(30, 4, 4300, 640)
hash_info = _tidemark.named_tuple(
    "sys.hash_info",
    ["width", "modulus", "inf", "nan", "imag", "algorithm", "hash_bits", "seed_bits", "cutoff"],
)(64, 2305843009213693951, 314159, 0, 1000003, "siphash13", 64, 128, 0)
thread_info = _tidemark.named_tuple("sys.thread_info", ["name", "lock", "version"])("pthread", "semaphore", None)
float_repr_style = "short"
api_version = 1013
copyright = "Copyright (c) 2001-2023 Python Software Foundation.\nAll Rights Reserved."
platlibdir = "lib"
pycache_prefix = None


class _Stream:
    encoding, errors, newlines, closed = "utf-8", "strict", None, False

    def __init__(self, number, name):
        self._number, self.name = number, name

    def write(self, text):
        print(text, end="", file=self)
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False

    def fileno(self):
        return self._number

    def read(self, size=-1):
        return ""

    readline = read

    def reconfigure(self, **options):
        pass


stdin, stdout, stderr = _Stream(0, "<stdin>"), _Stream(1, "<stdout>"), _Stream(2, "<stderr>")
__stdin__, __stdout__, __stderr__ = stdin, stdout, stderr


class _Implementation:
    name, cache_tag, hexversion = "cpython", "cpython-311", 0x030B00F0
    version = version_info


implementation = _Implementation()
flags = _tidemark.named_tuple("sys.flags", ["debug", "interactive", "optimize", "ignore_environment", "verbose"])(
    0, 0, 0, 0, 0
)


def intern(string):
    return string


def getsizeof(object, default=0):
    return 64


def getfilesystemencoding():
    return "utf-8"


def getdefaultencoding():
    return "utf-8"


def gettrace():
    return None


settrace = setprofile = setswitchinterval = addaudithook = lambda *args: None
excepthook = displayhook = __excepthook__ = __displayhook__ = unraisablehook = __unraisablehook__ = lambda *args: None


meta_path, path_hooks, path_importer_cache = [_PathFinder], [], {}
builtin_module_names = ("sys", "builtins", "math", "time")
stdlib_module_names = frozenset()


def is_finalizing():
    return False


orig_argv = [executable, *argv]
base_exec_prefix, abiflags = prefix, ""


def getswitchinterval():
    return 0.005


def getfilesystemencodeerrors():
    return "surrogateescape"


def get_int_max_str_digits():
    return 4300


def set_int_max_str_digits(maxdigits):
    pass


def getprofile():
    return None


def audit(event, *args):
    pass
