import builtins
from functools import partial

__all__ = [
    "abs", "add", "and_", "attrgetter", "call", "concat", "contains", "countOf", "delitem", "eq", "floordiv", "ge",
    "getitem", "gt", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "index", "indexOf",
    "inv", "invert", "ior", "ipow", "irshift", "is_", "is_not", "isub", "itemgetter", "itruediv", "ixor", "le",
    "length_hint", "lshift", "lt", "matmul", "methodcaller", "mod", "mul", "ne", "neg", "not_", "or_", "pos", "pow",
    "rshift", "setitem", "sub", "truediv", "truth", "xor",
]


class itemgetter:
    __slots__ = ("_items",)

    def __init__(self, item, /, *items):
        self._items = (item, *items)

    def __call__(self, obj, /):
        if len(self._items) == 1:
            return obj[self._items[0]]
        return tuple([obj[each] for each in self._items])

    def __repr__(self):
        return f"operator.itemgetter({', '.join([repr(each) for each in self._items])})"

    def __reduce__(self):
        return type(self), self._items


class attrgetter:
    __slots__ = ("_names",)

    def __init__(self, attr, /, *attrs):
        self._names = (attr, *attrs)
        for each in self._names:
            if not isinstance(each, str):
                raise TypeError("attribute name must be a string")

    def __call__(self, obj, /):
        found = [_reached(obj, name) for name in self._names]
        return found[0] if len(found) == 1 else tuple(found)

    def __repr__(self):
        return f"operator.attrgetter({', '.join([repr(each) for each in self._names])})"

    def __reduce__(self):
        return type(self), self._names


def _reached(obj, name):
    for part in name.split("."):
        obj = getattr(obj, part)
    return obj


class methodcaller:
    __slots__ = ("_name", "_args", "_kwargs")

    def __init__(self, name, /, *args, **kwargs):
        if not isinstance(name, str):
            raise TypeError("method name must be a string")
        self._name, self._args, self._kwargs = name, args, kwargs

    def __call__(self, obj, /):
        return getattr(obj, self._name)(*self._args, **self._kwargs)

    def __repr__(self):
        shown = [repr(self._name)] + [repr(each) for each in self._args]
        shown += [f"{key}={value!r}" for key, value in self._kwargs.items()]
        return f"operator.methodcaller({', '.join(shown)})"

    def __reduce__(self):
        if not self._kwargs:
            return type(self), (self._name, *self._args)
        return partial(type(self), self._name, **self._kwargs), self._args


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def truediv(a, b):
    return a / b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def neg(a):
    return -a


def matmul(a, b):
    return a @ b


def getitem(a, b):
    return a[b]


def eq(a, b):
    return a == b


def ne(a, b):
    return a != b


def lt(a, b):
    return a < b


def le(a, b):
    return a <= b


def gt(a, b):
    return a > b


def ge(a, b):
    return a >= b


def not_(a):
    return not a


def truth(a):
    return True if a else False


def is_(a, b):
    return a is b


def is_not(a, b):
    return a is not b


def and_(a, b):
    return a & b


def or_(a, b):
    return a | b


def xor(a, b):
    return a ^ b


def lshift(a, b):
    return a << b


def rshift(a, b):
    return a >> b


def pow(a, b):
    return a ** b


def pos(a):
    return +a


def invert(a):
    return ~a


inv = invert


def abs(a):
    return builtins.abs(a)


def index(a):
    if not hasattr(a, "__index__"):
        raise TypeError(f"'{type(a).__name__}' object cannot be interpreted as an integer")
    return a.__index__()


def concat(a, b):
    if not hasattr(type(a), "__getitem__"):
        raise TypeError(f"'{type(a).__name__}' object can't be concatenated")
    return a + b


def contains(a, b):
    return b in a


def countOf(a, b):
    return len([each for each in a if each is b or each == b])


def indexOf(a, b):
    for i, each in enumerate(a):
        if each is b or each == b:
            return i
    raise ValueError("sequence.index(x): x not in sequence")


def setitem(a, b, c):
    a[b] = c


def delitem(a, b):
    del a[b]


def length_hint(obj, default=0):
    if not isinstance(default, int):
        raise TypeError(f"'{type(default).__name__}' object cannot be interpreted as an integer")
    if hasattr(type(obj), "__len__"):
        try:
            return len(obj)
        except TypeError:
            pass
    hint = getattr(type(obj), "__length_hint__", None)
    if hint is None:
        return default
    try:
        found = hint(obj)
    except TypeError:
        return default
    if found is NotImplemented:
        return default
    if not isinstance(found, int):
        raise TypeError(f"__length_hint__ must be integer, not {type(found).__name__}")
    if found < 0:
        raise ValueError("__length_hint__() should return >= 0")
    return found


def call(obj, /, *args, **kwargs):
    return obj(*args, **kwargs)


def iadd(a, b):
    a += b
    return a


def isub(a, b):
    a -= b
    return a


def imul(a, b):
    a *= b
    return a


def itruediv(a, b):
    a /= b
    return a


def ior(a, b):
    a |= b
    return a


def iand(a, b):
    a &= b
    return a


def ifloordiv(a, b):
    a //= b
    return a


def imod(a, b):
    a %= b
    return a


def ipow(a, b):
    a **= b
    return a


def imatmul(a, b):
    a @= b
    return a


def ixor(a, b):
    a ^= b
    return a


def ilshift(a, b):
    a <<= b
    return a


def irshift(a, b):
    a >>= b
    return a


def iconcat(a, b):
    if not hasattr(type(a), "__getitem__"):
        raise TypeError(f"'{type(a).__name__}' object can't be concatenated")
    a += b
    return a
