import _tidemark
from importlib import _absolute
from importlib._machinery import ModuleSpec, SourceFileLoader, make as _make_spec
from types import ModuleType


# What stands in for these serves the programs that import them; who asks is told that they are not installed.
_not_installed = frozenset(("matplotlib", "seaborn"))


def resolve_name(name, package):
    return _absolute(name, package) if name.startswith(".") else name


def find_spec(name, package=None):
    name = resolve_name(name, package)
    loaded = _tidemark.modules().get(name)
    if loaded is not None:
        spec = getattr(loaded, "__spec__", None)
        if spec is None:
            raise ValueError(f"{name}.__spec__ is None")
        return spec
    found = _tidemark.find_module(name)
    if found is None or (found[0] is None and name.partition(".")[0] in _not_installed):
        return None
    return _make_spec(name, *found)


def spec_from_file_location(name, location=None, *, loader=None, submodule_search_locations=None):
    path = str(location)
    spec = ModuleSpec(name, loader or SourceFileLoader(name, path), origin=path)
    spec.submodule_search_locations = submodule_search_locations
    return spec


def spec_from_loader(name, loader, *, origin=None, is_package=None):
    if is_package is None:
        asked = getattr(loader, "is_package", None)
        is_package = bool(asked is not None and asked(name))
    return ModuleSpec(name, loader, origin=origin, is_package=is_package)


def module_from_spec(spec):
    module = ModuleType(spec.name)
    module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
    if spec.origin is not None:
        module.__file__ = spec.origin
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    return module


class LazyLoader:
    def __init__(self, loader):
        self.loader = loader

    @classmethod
    def factory(cls, loader):
        return lambda *args, **kwargs: cls(loader(*args, **kwargs))

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
