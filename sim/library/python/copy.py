import _tidemark

deepcopy = _tidemark.deepcopy
_atomic = (int, float, bool, str, bytes, tuple, frozenset, complex, range, slice, property, type(None), type(...),
           type(NotImplemented), type(len), type(lambda: None))


class Error(Exception):
    pass


error = Error


def copy(x):
    kind = type(x)
    if kind in _atomic or isinstance(x, type):
        return x
    if kind is dict:
        return x.copy()
    if hasattr(kind if isinstance(x, (list, dict)) else x, "__copy__"):
        return x.__copy__()
    if isinstance(x, set):
        return x.copy()
    if kind.__name__ in ("ReferenceType", "builtin_function_or_method") or isinstance(
        x, (int, float, str, tuple, frozenset)
    ):
        return x
    return _tidemark.shallow_copy(x)
