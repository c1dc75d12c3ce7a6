class _Kind(type):
    def __instancecheck__(cls, obj):
        return isinstance(obj, cls._types) or cls in type(obj).__mro__

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, cls._types) or cls in subclass.__mro__


class Number(metaclass=_Kind):
    _types = (int, float, complex)


class Complex(Number):
    _types = (int, float, complex)


class Real(Complex):
    _types = (int, float)


class Rational(Real):
    _types = (int,)


class Integral(Rational):
    _types = (int,)
