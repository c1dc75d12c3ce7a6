import _tidemark
import copy as _copy
import types as _types

HIGHEST_PROTOCOL, DEFAULT_PROTOCOL = 5, 4


class PickleError(Exception):
    pass


class PicklingError(PickleError):
    pass


class UnpicklingError(PickleError):
    pass


_own_ways = ("__getstate__", "__reduce__", "__reduce_ex__")
_functions = (_types.FunctionType, _types.MethodType, _types.BuiltinFunctionType)


def _check(obj, seen):
    """whether it can be pickled; says so as Python does"""
    if obj is None or isinstance(obj, (bool, int, float, str, type)) or id(obj) in seen:
        return
    seen[id(obj)] = obj
    if isinstance(obj, (list, tuple, set, frozenset)):
        for each in obj:
            _check(each, seen)
    elif isinstance(obj, dict):
        for key in obj:
            _check(key, seen)
            _check(obj[key], seen)
    elif isinstance(obj, _functions):
        name = obj.__qualname__
        if "<locals>" in name:
            raise AttributeError(f"Can't pickle local object '{name}'")
        if "<lambda>" in name:
            raise PicklingError(f"Can't pickle {obj!r}: attribute lookup {name} on {obj.__module__} failed")
    elif isinstance(obj, (_types.ModuleType, _types.GeneratorType)):
        raise TypeError(f"cannot pickle '{type(obj).__name__}' object")
    elif any(name in vars(cls) for cls in type(obj).__mro__ for name in _own_ways):
        return
    elif hasattr(obj, "__dict__"):
        _check(obj.__dict__, seen)


def _own(cls, name):
    """whether a program's own class says how it is pickled"""
    return any([name in vars(base) for base in cls.__mro__[:-1]])


def _copied(obj, memo):
    """what pickling and unpickling make of it: by the ways that its class has for that"""
    if obj is None or isinstance(obj, (bool, int, float, str, bytes, type)):
        return obj
    if id(obj) in memo:
        return memo[id(obj)][0]
    kind = type(obj)
    if kind is tuple:
        made = tuple([_copied(each, memo) for each in obj])
    elif kind in (list, set):
        made = memo[id(obj)] = kind(), obj
        made = made[0]
        for each in obj:
            (made.append if kind is list else made.add)(_copied(each, memo))
    elif kind is dict:
        made = {}
        memo[id(obj)] = made, obj
        for key in obj:
            made[_copied(key, memo)] = _copied(obj[key], memo)
    elif hasattr(obj, "__dict__") and _own(kind, "__getstate__") and not _own(kind, "__reduce_ex__"):
        made = kind.__new__(kind)
        memo[id(obj)] = made, obj
        _restore(made, _copied(obj.__getstate__(), memo))
    elif _own(kind, "__reduce__") and not _own(kind, "__reduce_ex__"):
        made = _reduced(obj, memo)
    else:
        made = _copy.deepcopy(obj)
    memo[id(obj)] = made, obj
    return made


def _reduced(obj, memo):
    """a maker and its arguments; state, items and pairs follow where they are"""
    make, args, state, items, pairs = (*obj.__reduce__(), None, None, None)[:5]
    made = make(*_copied(tuple(args), memo))
    memo[id(obj)] = made, obj
    for each in items or ():
        made.append(_copied(each, memo))
    for key, value in pairs or ():
        made[_copied(key, memo)] = _copied(value, memo)
    if state is not None:
        _restore(made, _copied(state, memo))
    return made


def _restore(made, state):
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    elif state is not None:
        made.__dict__.update(state)


class _Pickled:
    """stands for the bytes, of which nothing but what was pickled is known"""

    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        _tidemark.refuse("the length of pickled bytes is not modelled", "")

    def __getitem__(self, key):
        _tidemark.refuse("looking into pickled bytes is not modelled", "")


def dumps(obj, protocol=None, *, fix_imports=True, buffer_callback=None):
    _check(obj, {})
    return _Pickled(_copied(obj, {}))


def loads(data, /, *, fix_imports=True, encoding="ASCII", errors="strict", buffers=None):
    if not isinstance(data, _Pickled):
        _tidemark.refuse("pickle.loads of bytes that this run did not make is not modelled", "")
    return _copied(data._obj, {})


def dump(obj, file, protocol=None, *, fix_imports=True, buffer_callback=None):
    _tidemark.refuse("pickle.dump is not modelled", "leave it out: nothing on the device depends on it")


def load(file, *, fix_imports=True, encoding="ASCII", errors="strict", buffers=None):
    _tidemark.refuse("pickle.load is not modelled", "make the value in the program")


class Pickler:
    def __init__(self, *args, **options):
        _tidemark.refuse("pickle.Pickler is not modelled", "use pickle.dumps")


class Unpickler:
    def __init__(self, *args, **options):
        _tidemark.refuse("pickle.Unpickler is not modelled", "use pickle.loads")


_Pickler, _Unpickler = Pickler, Unpickler
