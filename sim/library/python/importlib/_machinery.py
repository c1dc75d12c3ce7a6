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
