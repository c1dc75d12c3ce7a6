import _tidemark
import os.path as _path
from importlib.util import find_spec as _find_spec
from typing import NamedTuple


class ModuleInfo(NamedTuple):
    module_finder: object
    name: str
    ispkg: bool


class _FileFinder:
    """what found a module, and finds it again"""

    def __init__(self, path):
        self.path = path

    def find_spec(self, fullname, target=None):
        return _find_spec(fullname)

    def __repr__(self):
        return f"FileFinder({self.path!r})"


def iter_modules(path=None, prefix=""):
    seen = {}
    for folder in _tidemark.search_path() if path is None else path:
        for entry in _tidemark.list_folder(str(folder)):
            ispkg = entry.endswith("/") and "__init__.py" in _tidemark.list_folder(str(folder) + "/" + entry[:-1])
            name = entry[:-1] if ispkg else entry[:-3] if entry.endswith(".py") else ""
            if name.isidentifier() and name != "__init__" and name not in seen:
                seen[name] = True
                yield ModuleInfo(_FileFinder(str(folder)), prefix + name, ispkg)


def walk_packages(path=None, prefix="", onerror=None):
    for info in iter_modules(path, prefix):
        yield info
        if info.ispkg:
            try:
                package = _tidemark.import_module(info.name)
            except ImportError:
                if onerror is not None:
                    onerror(info.name)
            else:
                yield from walk_packages(getattr(package, "__path__", []), info.name + ".", onerror)


def find_loader(fullname):
    spec = _find_spec(fullname)
    return None if spec is None else spec.loader


get_loader = find_loader


def get_data(package, resource):
    if _find_spec(package) is None:
        return None
    file = getattr(_tidemark.import_module(package), "__file__", None)
    if file is None:
        return None
    with open(_path.join(_path.dirname(file), *resource.split("/"))) as data:
        return data.read().encode()


def extend_path(path, name):
    return path


def resolve_name(name):
    module, colon, rest = name.partition(":")
    if colon:
        found = _tidemark.import_module(module)
        parts = rest.split(".") if rest else []
    else:
        parts = name.split(".")
        found = _tidemark.import_module(parts.pop(0))
        while parts and not hasattr(found, parts[0]):
            found = _tidemark.import_module(found.__name__ + "." + parts.pop(0))
    for part in parts:
        found = getattr(found, part)
    return found
