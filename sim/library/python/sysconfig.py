import sys

# Where Python's own files lie on the machine that a program runs on: the folders of Linux, below sys.prefix.

_names = ("stdlib", "platstdlib", "purelib", "platlib", "include", "scripts", "data")
_schemes = ("posix_home", "posix_prefix", "posix_user", "venv")


def get_python_version():
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def get_platform():
    return "linux-x86_64"


def get_scheme_names():
    return _schemes


def get_path_names():
    return _names


def get_default_scheme():
    return "posix_prefix"


def get_preferred_scheme(key):
    return {"prefix": "posix_prefix", "home": "posix_home", "user": "posix_user"}[key]


def get_paths(scheme="posix_prefix", vars=None, expand=True):
    base = (vars or {}).get("base", sys.prefix)
    lib = f"{base}/lib/python{get_python_version()}"
    site = f"{lib}/site-packages"
    include = f"{base}/include/python{get_python_version()}"
    return dict(zip(_names, (lib, lib, site, site, include, f"{base}/bin", base)))


def get_path(name, scheme="posix_prefix", vars=None, expand=True):
    return get_paths(scheme, vars, expand)[name]


_variables = {
    "EXT_SUFFIX": ".cpython-311-x86_64-linux-gnu.so", "SOABI": "cpython-311-x86_64-linux-gnu", "VERSION": "3.11",
    "Py_DEBUG": 0, "Py_GIL_DISABLED": None, "WITH_PYMALLOC": 1, "prefix": sys.prefix, "exec_prefix": sys.prefix,
}


def get_config_vars(*names):
    return [_variables.get(name) for name in names] if names else dict(_variables)


def get_config_var(name):
    return _variables.get(name)
