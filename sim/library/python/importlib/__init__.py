import _tidemark


def import_module(name, package=None):
    if name.startswith("."):
        name = _absolute(name, package)
    return _tidemark.import_module(name)


def _absolute(name, package):
    if not package:
        raise TypeError(f"the 'package' argument is required to perform a relative import for {name!r}")
    rest = name.lstrip(".")
    for _ in range(len(name) - len(rest) - 1):
        if "." not in package:
            raise ImportError("attempted relative import beyond top-level package")
        package = package.rpartition(".")[0]
    return f"{package}.{rest}" if rest else package


def invalidate_caches():
    pass


def reload(module):
    if getattr(module, "__file__", None) is None:
        _tidemark.refuse(f"importlib.reload({module.__name__}) is not modelled", "it has no text that is read")
    with open(module.__file__) as file:
        code = compile(file.read(), module.__file__, "exec")
    exec(code, module.__dict__)
    return _tidemark.modules()[module.__name__]


def __import__(name, globals=None, locals=None, fromlist=(), level=0):
    if level > 0:
        name = _absolute("." * level + name, globals["__package__"] or globals["__name__"])
    module = _tidemark.import_module(name)
    return module if fromlist else _tidemark.import_module(name.partition(".")[0])
