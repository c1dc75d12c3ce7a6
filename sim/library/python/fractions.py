import math
import numbers
import operator
import re
from decimal import Decimal

__all__ = ["Fraction"]

_NUMBER = re.compile(
    r"\s*([-+]?)(?=\d|\.\d)(\d*|\d+(?:_\d+)*)"
    r"(?:(?:/(\d+(?:_\d+)*))?|(?:\.(\d*|\d+(?:_\d+)*))?(?:[eE]([-+]?\d+(?:_\d+)*))?)\s*"
)


def _of_text(text):
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(f"Invalid literal for Fraction: {text!r}")
    sign, whole, below, part, power = found.groups()
    top, below, part = int(whole or "0"), int(below or "1"), (part or "").replace("_", "")
    if part:
        below = 10 ** len(part)
        top = top * below + int(part)
    power = int(power or "0")
    if power >= 0:
        top *= 10**power
    else:
        below *= 10**-power
    return (-top if sign == "-" else top), below


def _made(top, below, cls=None):
    """top / below, which share nothing."""
    self = object.__new__(Fraction if cls is None else cls)
    self._numerator, self._denominator = top, below
    return self


def _reduced(top, below, cls=None):
    if below == 0:
        raise ZeroDivisionError(f"Fraction({top}, 0)")
    shared = math.gcd(top, below)
    if below < 0:
        shared = -shared
    return _made(top // shared, below // shared, cls)


def _operators(of_fractions, of_others):
    """The operator from the left and from the right."""

    def forward(a, b):
        if isinstance(b, Fraction):
            return of_fractions(a, b)
        if isinstance(b, int):
            return of_fractions(a, _made(int(b), 1))
        if isinstance(b, float):
            return of_others(float(a), b)
        if isinstance(b, complex):
            return of_others(complex(a), b)
        return NotImplemented

    def backward(b, a):
        if isinstance(a, numbers.Rational):
            return of_fractions(_made(int(a.numerator), int(a.denominator)), b)
        if isinstance(a, numbers.Real):
            return of_others(float(a), float(b))
        if isinstance(a, numbers.Complex):
            return of_others(complex(a), complex(b))
        return NotImplemented

    return forward, backward


def _add(a, b):
    return _reduced(a._numerator * b._denominator + b._numerator * a._denominator, a._denominator * b._denominator)


def _subtract(a, b):
    return _reduced(a._numerator * b._denominator - b._numerator * a._denominator, a._denominator * b._denominator)


def _multiply(a, b):
    return _reduced(a._numerator * b._numerator, a._denominator * b._denominator)


def _divide(a, b):
    return _reduced(a._numerator * b._denominator, a._denominator * b._numerator)


def _divide_whole(a, b):
    return a._numerator * b._denominator // (a._denominator * b._numerator)


def _rest(a, b):
    below = a._denominator * b._denominator
    return _reduced(a._numerator * b._denominator % (b._numerator * a._denominator), below)


def _divmod(a, b):
    whole, rest = divmod(a._numerator * b._denominator, b._numerator * a._denominator)
    return whole, _reduced(rest, a._denominator * b._denominator)


class Fraction(numbers.Rational):
    __slots__ = ("_numerator", "_denominator")

    def __new__(cls, numerator=0, denominator=None, *, _normalize=True):
        if denominator is None:
            if type(numerator) is int:
                return _made(numerator, 1, cls)
            if isinstance(numerator, numbers.Rational):
                return _made(numerator.numerator, numerator.denominator, cls)
            if isinstance(numerator, (float, Decimal)):
                top, below = numerator.as_integer_ratio()
                return _made(top, below, cls)
            if not isinstance(numerator, str):
                raise TypeError("argument should be a string or a Rational instance")
            top, below = _of_text(numerator)
        elif type(numerator) is int is type(denominator):
            top, below = numerator, denominator
        elif isinstance(numerator, numbers.Rational) and isinstance(denominator, numbers.Rational):
            top = numerator.numerator * denominator.denominator
            below = denominator.numerator * numerator.denominator
        else:
            raise TypeError("both arguments should be Rational instances")
        return _reduced(top, below, cls) if _normalize else _made(top, below, cls)

    @classmethod
    def from_float(cls, f):
        if isinstance(f, numbers.Integral):
            return cls(f)
        if not isinstance(f, float):
            raise TypeError(f"{cls.__name__}.from_float() only takes floats, not {f!r} ({type(f).__name__})")
        return cls(*f.as_integer_ratio())

    @classmethod
    def from_decimal(cls, dec):
        if isinstance(dec, numbers.Integral):
            dec = Decimal(int(dec))
        elif not isinstance(dec, Decimal):
            raise TypeError(f"{cls.__name__}.from_decimal() only takes Decimals, not {dec!r} ({type(dec).__name__})")
        return cls(*dec.as_integer_ratio())

    @property
    def numerator(self):
        return self._numerator

    @property
    def denominator(self):
        return self._denominator

    def as_integer_ratio(self):
        return (self._numerator, self._denominator)

    def limit_denominator(self, max_denominator=1000000):
        if max_denominator < 1:
            raise ValueError("max_denominator should be at least 1")
        if self._denominator <= max_denominator:
            return Fraction(self)
        before, last = (0, 1), (1, 0)
        n, d = self._numerator, self._denominator
        while True:
            whole = n // d
            below = before[1] + whole * last[1]
            if below > max_denominator:
                break
            before, last = last, (before[0] + whole * last[0], below)
            n, d = d, n - whole * d
        times = (max_denominator - before[1]) // last[1]
        far = Fraction(before[0] + times * last[0], before[1] + times * last[1])
        near = Fraction(*last)
        return near if abs(near - self) <= abs(far - self) else far

    __add__, __radd__ = _operators(_add, operator.add)
    __sub__, __rsub__ = _operators(_subtract, operator.sub)
    __mul__, __rmul__ = _operators(_multiply, operator.mul)
    __truediv__, __rtruediv__ = _operators(_divide, operator.truediv)
    __floordiv__, __rfloordiv__ = _operators(_divide_whole, operator.floordiv)
    __mod__, __rmod__ = _operators(_rest, operator.mod)
    __divmod__, __rdivmod__ = _operators(_divmod, divmod)

    def __pow__(a, b):
        if not isinstance(b, numbers.Rational):
            return float(a) ** b
        if b.denominator != 1:
            return float(a) ** float(b)
        power, top, below = b.numerator, a._numerator, a._denominator
        if power < 0:
            power = -power
            if top == 0:
                raise ZeroDivisionError(f"Fraction({below**power}, 0)")
            top, below = (below, top) if top > 0 else (-below, -top)
        return _made(top**power, below**power)

    def __rpow__(b, a):
        if b._denominator == 1 and b._numerator >= 0:
            return a**b._numerator
        if isinstance(a, numbers.Rational):
            return Fraction(a.numerator, a.denominator) ** b
        return a**b._numerator if b._denominator == 1 else a ** float(b)

    def __neg__(self):
        return _made(-self._numerator, self._denominator)

    def __pos__(self):
        return _made(self._numerator, self._denominator)

    def __abs__(self):
        return _made(abs(self._numerator), self._denominator)

    def __trunc__(self):
        whole = abs(self._numerator) // self._denominator
        return -whole if self._numerator < 0 else whole

    def __int__(self):
        return operator.index(self.__trunc__())

    def __floor__(self):
        return self._numerator // self._denominator

    def __ceil__(self):
        return -(-self._numerator // self._denominator)

    def __round__(self, ndigits=None):
        if ndigits is None:
            low, rest = divmod(self._numerator, self._denominator)
            if rest * 2 == self._denominator:
                return low + low % 2
            return low + (rest * 2 > self._denominator)
        unit = 10 ** abs(ndigits)
        if ndigits > 0:
            return Fraction(round(self * unit), unit)
        return Fraction(round(self / unit) * unit)

    def __float__(self):
        return int(self._numerator) / int(self._denominator)

    def __bool__(self):
        return bool(self._numerator)

    def __hash__(self):
        if self._denominator == 1:
            return hash(self._numerator)
        try:
            near = float(self)
        except OverflowError:
            return hash((self._numerator, self._denominator))
        is_exact = near.as_integer_ratio() == (self._numerator, self._denominator)
        return hash(near) if is_exact else hash((self._numerator, self._denominator))

    def __eq__(self, other):
        if type(other) is int:
            return self._denominator == 1 and self._numerator == other
        if isinstance(other, numbers.Rational):
            return bool(self._numerator == other.numerator and self._denominator == other.denominator)
        if isinstance(other, numbers.Complex) and other.imag == 0:
            other = other.real
        if isinstance(other, float):
            return 0.0 == other if other - other != 0 else self == Fraction.from_float(other)
        return NotImplemented

    def _compare(self, other, order):
        if isinstance(other, numbers.Rational):
            return bool(order(self._numerator * other.denominator, self._denominator * other.numerator))
        if isinstance(other, float):
            return order(0.0, other) if other - other != 0 else order(self, Fraction.from_float(other))
        return NotImplemented

    def __lt__(self, other):
        return self._compare(other, operator.lt)

    def __le__(self, other):
        return self._compare(other, operator.le)

    def __gt__(self, other):
        return self._compare(other, operator.gt)

    def __ge__(self, other):
        return self._compare(other, operator.ge)

    def __reduce__(self):
        return (type(self), (self._numerator, self._denominator))

    def __copy__(self):
        return self if type(self) is Fraction else type(self)(self._numerator, self._denominator)

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __repr__(self):
        return f"{type(self).__name__}({self._numerator}, {self._denominator})"

    def __str__(self):
        return str(self._numerator) if self._denominator == 1 else f"{self._numerator}/{self._denominator}"
