import _tidemark

deepcopy = _tidemark.deepcopy


def copy(x):
    if x is None or type(x) in (int, float, bool, str, tuple, frozenset):
        return x
    if hasattr(type(x) if isinstance(x, (list, dict)) else x, "__copy__"):
        return x.__copy__()
    if isinstance(x, set):
        return x.copy()
    if isinstance(x, (int, float, str, tuple, frozenset)):
        return x
    return _tidemark.shallow_copy(x)
