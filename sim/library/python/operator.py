def itemgetter(*items):
    if len(items) == 1:
        return lambda obj: obj[items[0]]
    return lambda obj: tuple([obj[i] for i in items])


def attrgetter(*names):
    def get(obj, name):
        for part in name.split("."):
            obj = getattr(obj, part)
        return obj

    if len(names) == 1:
        return lambda obj: get(obj, names[0])
    return lambda obj: tuple([get(obj, n) for n in names])


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
    return a.__abs__()


def index(a):
    return a.__index__()


def concat(a, b):
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
    return len(obj) if hasattr(obj, "__len__") else default


def call(obj, /, *args, **kwargs):
    return obj(*args, **kwargs)


def methodcaller(name, /, *args, **kwargs):
    return lambda obj: getattr(obj, name)(*args, **kwargs)


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


iconcat = iadd
