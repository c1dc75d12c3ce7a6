import _tidemark
from importlib.util import find_spec
from types import ModuleType

__all__ = ["run_module", "run_path"]


def run_module(mod_name, init_globals=None, run_name=None, alter_sys=False):
    """the module's text, run anew as `python -m` does; gives what it left at its top level"""
    name, spec = _found(mod_name)
    return _run(spec.origin, init_globals, run_name or name, spec, alter_sys)


def run_path(path_name, init_globals=None, run_name=None):
    path = path_name if isinstance(path_name, str) else path_name.__fspath__()
    import os

    if not os.path.isdir(path):
        return _run(path, init_globals, run_name or "<run_path>", None, True)
    import sys

    sys.path.insert(0, path)
    try:
        return _run(os.path.join(path, "__main__.py"), init_globals, run_name or "<run_path>", None, True)
    finally:
        if path in sys.path:
            sys.path.remove(path)


def _found(mod_name):
    if mod_name.startswith("."):
        raise ImportError("Relative module names not supported")
    above = mod_name.rpartition(".")[0]
    if above:
        _tidemark.import_module(above)
    spec = find_spec(mod_name)
    if spec is None:
        raise ImportError(f"No module named {mod_name}")
    if spec.submodule_search_locations is None:
        return mod_name, spec
    if mod_name.rpartition(".")[2] == "__main__":
        raise ImportError("Cannot use package as __main__ module")
    try:
        return _found(mod_name + ".__main__")
    except ImportError as error:
        if mod_name not in _tidemark.modules():
            raise
        raise ImportError(f"{error}; {mod_name!r} is a package and cannot be directly executed")


def _run(path, init_globals, name, spec, alter_sys):
    import sys

    module = ModuleType(name)
    space = module.__dict__
    space.update(init_globals or {})
    space.update(
        __name__=name, __file__=path, __cached__=None, __doc__=None, __loader__=None if spec is None else spec.loader,
        __package__=name.rpartition(".")[0] if spec is None else spec.parent, __spec__=spec,
    )
    modules, kept, argument = _tidemark.modules(), _tidemark.modules().get(name), sys.argv[0]
    if alter_sys:
        modules[name], sys.argv[0] = module, path
    try:
        with open(path) as file:
            text = file.read()
        exec(compile(text, path, "exec"), space)
        return dict(space)
    finally:
        if alter_sys:
            sys.argv[0] = argument
            if kept is None:
                modules.pop(name, None)
            else:
                modules[name] = kept
