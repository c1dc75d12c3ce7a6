from math import gcd
from numbers import Rational
import re


class Fraction(Rational):
    def __new__(cls, numerator=0, denominator=None):
        self = super().__new__(cls)
        if denominator is None:
            if isinstance(numerator, str):
                found = re.fullmatch(r"\s*([-+]?\d*)(?:/(\d+)|\.(\d*)(?:[eE]([-+]?\d+))?)?\s*", numerator)
                if found is None or not any(c.isdigit() for c in numerator):
                    raise ValueError(f"Invalid literal for Fraction: {numerator!r}")
                whole, below, part, power = found.groups()
                part = part or ""
                top, below = int((whole or "") + part), int(below or 10 ** len(part))
                power = int(power or 0)
                numerator, denominator = (top * 10**power, below) if power >= 0 else (top, below * 10**-power)
            else:
                numerator, denominator = numerator.as_integer_ratio()
        elif isinstance(numerator, Fraction) or isinstance(denominator, Fraction):
            a, b = Fraction(numerator), Fraction(denominator)
            numerator, denominator = a.numerator * b.denominator, a.denominator * b.numerator
        if denominator == 0:
            raise ZeroDivisionError(f"Fraction({numerator}, 0)")
        shared = gcd(numerator, denominator) * (1 if denominator > 0 else -1)
        self.numerator, self.denominator = numerator // shared, denominator // shared
        return self

    @classmethod
    def from_float(cls, f):
        return cls(*f.as_integer_ratio())

    def as_integer_ratio(self):
        return (self.numerator, self.denominator)

    def limit_denominator(self, max_denominator=1000000):
        if self.denominator <= max_denominator:
            return Fraction(self)
        p0, q0, p1, q1 = 0, 1, 1, 0
        n, d = self.numerator, self.denominator
        while True:
            a = n // d
            q2 = q0 + a * q1
            if q2 > max_denominator:
                break
            p0, q0, p1, q1 = p1, q1, p0 + a * p1, q2
            n, d = d, n - a * d
        k = (max_denominator - q0) // q1
        low, high = Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1)
        return high if abs(high - self) <= abs(low - self) else low

    def _with(self, other, of_fractions, of_floats):
        if isinstance(other, float):
            return of_floats(float(self), other)
        if isinstance(other, int):
            other = Fraction(other)
        return of_fractions(self, other) if isinstance(other, Fraction) else NotImplemented

    def __add__(self, other):
        return self._with(other, _add, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other):
        return self._with(other, lambda a, b: _add(a, -b), lambda a, b: a - b)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        return self._with(other, _multiply, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._with(other, _divide, lambda a, b: a / b)

    def __rtruediv__(self, other):
        return self._with(other, lambda a, b: _divide(b, a), lambda a, b: b / a)

    def __floordiv__(self, other):
        return self._with(other, lambda a, b: _divide(a, b).__floor__(), lambda a, b: a // b)

    def __mod__(self, other):
        return self - other * (self // other)

    def __pow__(self, other):
        if isinstance(other, int):
            if other >= 0:
                return Fraction(self.numerator**other, self.denominator**other)
            return Fraction(self.denominator**-other, self.numerator**-other)
        return float(self) ** float(other)

    def __neg__(self):
        return Fraction(-self.numerator, self.denominator)

    def __pos__(self):
        return Fraction(self)

    def __abs__(self):
        return Fraction(abs(self.numerator), self.denominator)

    def __int__(self):
        return self.numerator // self.denominator if self.numerator >= 0 else -(-self.numerator // self.denominator)

    __trunc__ = __int__

    def __floor__(self):
        return self.numerator // self.denominator

    def __ceil__(self):
        return -(-self.numerator // self.denominator)

    def __round__(self, ndigits=None):
        if ndigits is None:
            low, rest = divmod(self.numerator, self.denominator)
            if rest * 2 == self.denominator:
                return low + low % 2
            return low + (rest * 2 > self.denominator)
        unit = 10 ** abs(ndigits)
        if ndigits > 0:
            return Fraction(round(self * unit), unit)
        return Fraction(round(self / unit) * unit)

    def __float__(self):
        return self.numerator / self.denominator

    def __bool__(self):
        return self.numerator != 0

    def __hash__(self):
        return hash(self.numerator) if self.denominator == 1 else hash(float(self))

    def __eq__(self, other):
        if isinstance(other, float):
            return float(self) == other
        if isinstance(other, int):
            return self.denominator == 1 and self.numerator == other
        if isinstance(other, Fraction):
            return self.numerator == other.numerator and self.denominator == other.denominator
        return NotImplemented

    def _order(self, other):
        difference = self - other
        return difference if isinstance(difference, float) else difference.numerator

    def __lt__(self, other):
        return self._order(other) < 0

    def __le__(self, other):
        return self._order(other) <= 0

    def __gt__(self, other):
        return self._order(other) > 0

    def __ge__(self, other):
        return self._order(other) >= 0

    def __repr__(self):
        return f"Fraction({self.numerator}, {self.denominator})"

    def __str__(self):
        return str(self.numerator) if self.denominator == 1 else f"{self.numerator}/{self.denominator}"


def _add(a, b):
    return Fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)


def _multiply(a, b):
    return Fraction(a.numerator * b.numerator, a.denominator * b.denominator)


def _divide(a, b):
    return Fraction(a.numerator * b.denominator, a.denominator * b.numerator)
