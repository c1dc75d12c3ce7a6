import _tidemark


class SourceFileLoader:
    def __init__(self, fullname, path):
        self.name, self.path = fullname, path

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        source = _tidemark.read_text(self.path)
        if source is None:
            raise FileNotFoundError(f"[Errno 2] No such file or directory: {self.path!r}")
        _tidemark.run_file(module, source, self.path)

    def load_module(self, fullname=None):
        return _tidemark.import_module(fullname or self.name)

    def get_filename(self, name=None):
        return self.path


class ModuleSpec:
    def __init__(self, name, loader, *, origin=None, loader_state=None, is_package=None):
        self.name, self.loader, self.origin, self.loader_state = name, loader, origin, loader_state
        self.submodule_search_locations = [] if is_package else None
        self.cached = None
        self.has_location = origin is not None

    @property
    def parent(self):
        return self.name.rpartition(".")[0] if self.submodule_search_locations is None else self.name

    def __repr__(self):
        parts = [f"name={self.name!r}", f"loader={self.loader!r}"]
        if self.origin is not None:
            parts.append(f"origin={self.origin!r}")
        if self.submodule_search_locations is not None:
            parts.append(f"submodule_search_locations={self.submodule_search_locations}")
        return f"ModuleSpec({', '.join(parts)})"


class PathFinder:
    """stands for Python's own finders: what lies in sys.meta_path before it is asked first"""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        from importlib.util import find_spec

        return find_spec(fullname)


def load_by_finders(name, path, finders, ahead):
    own = finders.index(PathFinder) if PathFinder in finders else len(finders)
    for finder in finders[:own] if ahead else finders[own + 1:]:
        find = getattr(finder, "find_spec", None)
        spec = None if find is None else find(name, path, None)
        if spec is not None:
            return _load(spec)
    return None


def _load(spec):
    from importlib.util import module_from_spec

    create = getattr(spec.loader, "create_module", None)
    if not hasattr(spec.loader, "exec_module"):
        return spec.loader.load_module(spec.name)
    module = None if create is None else create(spec)
    if module is None:
        module = module_from_spec(spec)
    else:
        module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
    modules = _tidemark.modules()
    modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        modules.pop(spec.name, None)
        raise
    return modules[spec.name]


def make(name, origin, is_package, folders):
    loader = SourceFileLoader(name, origin) if origin is not None else None
    spec = ModuleSpec(name, loader, origin=origin, is_package=is_package)
    if is_package:
        spec.submodule_search_locations = folders
    return spec


def spec_of(module):
    folders = getattr(module, "__path__", None)
    if module.__name__ == "__main__":
        return None
    return make(module.__name__, getattr(module, "__file__", None), folders is not None, folders)
