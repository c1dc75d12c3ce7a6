"""Decimal numbers: a sign, an integer, and the power of ten that it is times.

A special value has a letter for its power: F (infinity), n (no number), N (no number, and says so when it is used).
"""

import math
import numbers
import re
from _decimal_context import (
    BasicContext, Clamped, Context, ConversionSyntax, DecimalException, DefaultContext, DivisionByZero,
    DivisionImpossible, DivisionUndefined, ExtendedContext, FloatOperation, Inexact, InvalidOperation, MAX_EMAX,
    MAX_PREC, MIN_EMIN, MIN_ETINY, Overflow, ROUND_05UP, ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_DOWN,
    ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Rounded, Subnormal, Underflow, getcontext, localcontext, setcontext,
)
from _decimal_functions import Functions, power
from _decimal_text import formatted, text
from collections import namedtuple

HAVE_THREADS = HAVE_CONTEXTVAR = True
DecimalTuple = namedtuple("DecimalTuple", "sign digits exponent")
_NUMBER = re.compile(
    r"([-+])?(?:(?=\d|\.\d)(\d*)(?:\.(\d*))?(?:E([-+]?\d+))?|(inf(?:inity)?)|(s)?nan(\d*))", re.IGNORECASE
)


def _digits(n):
    return len(str(n))


def _made(sign, coefficient, exponent, cls=None):
    self = object.__new__(Decimal if cls is None else cls)
    self._sign, self._int, self._exp = sign, coefficient, exponent
    return self


def _nan():
    return _made(0, 0, "n")


def _infinity(sign):
    return _made(sign, 0, "F")


def _goes_up(kept, rest, unit, rounding, sign):
    """Whether what is kept of a coefficient grows by one, where `rest` of `unit` is cut off."""
    if rest == 0 or rounding == ROUND_DOWN:
        return False
    if rounding == ROUND_UP:
        return True
    if rounding == ROUND_CEILING:
        return not sign
    if rounding == ROUND_FLOOR:
        return bool(sign)
    if rounding == ROUND_05UP:
        return kept % 5 == 0
    if 2 * rest != unit:
        return 2 * rest > unit
    return rounding == ROUND_HALF_UP or rounding == ROUND_HALF_EVEN and kept % 2 == 1


def _taken(value, needed=False):
    """What may stand beside a Decimal: a Decimal or an integer."""
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int):
        return _made(int(value < 0), abs(int(value)), 0)
    if needed:
        raise TypeError(f"conversion from {type(value).__name__} to Decimal is not supported")
    return NotImplemented


def _compared(self, other, equality=False):
    """Both as Decimals, to be compared."""
    if isinstance(other, float):
        context = getcontext()
        if equality:
            context.flags[FloatOperation] = True
        else:
            context._signal(FloatOperation)
        return self, Decimal.from_float(other)
    if isinstance(other, numbers.Rational) and not isinstance(other, int):
        if self._special():
            return self, _made(0, 0, 0)
        return _made(self._sign, self._int * other.denominator, self._exp), _taken(other.numerator)
    if equality and isinstance(other, complex) and other.imag == 0:
        return _compared(self, other.real, True)
    return self, _taken(other)


def _operators(method):
    """An operator and its reflection, by the method that computes it in a context."""

    def operator(self, other):
        other = _taken(other)
        return other if other is NotImplemented else getattr(self, method)(other, getcontext())

    def reflected(self, other):
        other = _taken(other)
        return other if other is NotImplemented else getattr(other, method)(self, getcontext())

    return operator, reflected


@numbers.Number.register
class Decimal(Functions):
    __slots__ = ("_sign", "_int", "_exp")

    def __new__(cls, value="0", context=None):
        if isinstance(value, str):
            found = _NUMBER.fullmatch(value.strip().replace("_", ""))
            if found is None:
                made = (context or getcontext())._invalid(ConversionSyntax)
                return made if cls is Decimal else _made(made._sign, made._int, made._exp, cls)
            minus, whole, part, power, infinite, signals, payload = found.groups()
            sign = int(minus == "-")
            if infinite:
                return _made(sign, 0, "F", cls)
            if payload is not None:
                return _made(sign, int(payload or "0"), "N" if signals else "n", cls)
            part = part or ""
            return _made(sign, int(whole + part), int(power or "0") - len(part), cls)
        if isinstance(value, float):
            (context or getcontext())._signal(FloatOperation)
            return cls.from_float(value)
        if isinstance(value, (list, tuple)):
            return cls._of_tuple(value)
        value = _taken(value, True)
        return _made(value._sign, value._int, value._exp, cls)

    @classmethod
    def _of_tuple(cls, value):
        if len(value) != 3:
            raise ValueError("argument must be a sequence of length 3")
        sign, digits, exponent = value
        if not isinstance(sign, int) or sign not in (0, 1):
            raise ValueError("sign must be an integer with the value 0 or 1")
        if exponent == "F":
            return _made(sign, 0, "F", cls)
        if exponent not in ("n", "N") and not isinstance(exponent, int):
            raise ValueError("string argument in the third position must be 'F', 'n' or 'N'")
        number = 0
        for digit in digits:
            if not isinstance(digit, int) or not 0 <= digit <= 9:
                raise ValueError("coefficient must be a tuple of digits")
            number = number * 10 + digit
        return _made(sign, number, exponent, cls)

    @classmethod
    def from_float(cls, f):
        if isinstance(f, int):
            return cls(int(f))
        if not isinstance(f, float):
            raise TypeError("argument must be int or float")
        if math.isnan(f) or math.isinf(f):
            return cls(repr(float(f)))
        top, below = abs(f).as_integer_ratio()
        places = below.bit_length() - 1
        return _made(int(math.copysign(1.0, f) < 0), top * 5**places, -places, cls)

    def _special(self):
        return isinstance(self._exp, str)

    def _nan_of(self, context, *others):
        """The result where one of them is no number; None where all are numbers."""
        for each in (self, *others):
            if each._exp == "N":
                context._signal(InvalidOperation)
                return _made(each._sign, each._int, "n")._fix(context)
        for each in (self, *others):
            if each._exp == "n":
                return each._fix(context)
        return None

    def _fix(self, context):
        """Rounded to the context's precision and range."""
        if self._special():
            if self._int and _digits(self._int) > context.prec - context.clamp:
                return _made(self._sign, self._int % 10 ** (context.prec - context.clamp), self._exp)
            return self
        tiny, top = context.Etiny(), context.Etop()
        if self._int == 0:
            exponent = min(max(self._exp, tiny), top if context.clamp else context.Emax)
            if exponent == self._exp:
                return self
            context._signal(Clamped)
            return _made(self._sign, 0, exponent)
        size = _digits(self._int)
        lowest = size + self._exp - context.prec
        if lowest > top:
            return self._overflown(context)
        is_subnormal = lowest < tiny
        lowest = max(lowest, tiny)
        if self._exp >= lowest:
            if is_subnormal:
                context._signal(Subnormal)
            if context.clamp and self._exp > top:
                context._signal(Clamped)
                return _made(self._sign, self._int * 10 ** (self._exp - top), top)
            return self
        places = lowest - self._exp
        if places > size + 1:
            places, unit, kept, rest = 1, 10, 0, 1
        else:
            unit = 10**places
            kept, rest = divmod(self._int, unit)
        if _goes_up(kept, rest, unit, context.rounding, self._sign):
            kept += 1
            if _digits(kept) > context.prec:
                kept, lowest = kept // 10, lowest + 1
        if lowest > top:
            return self._overflown(context)
        said = []
        if rest and is_subnormal:
            said.append(Underflow)
        if is_subnormal:
            said.append(Subnormal)
        if rest:
            said.append(Inexact)
        said.append(Rounded)
        if kept == 0:
            said.append(Clamped)
        context._signal(*said)
        return _made(self._sign, kept, lowest)

    def _overflown(self, context):
        context._signal(Overflow, Inexact, Rounded)
        nearest = context.rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_HALF_DOWN, ROUND_UP)
        if nearest or context.rounding == (ROUND_FLOOR if self._sign else ROUND_CEILING):
            return _infinity(self._sign)
        return _made(self._sign, 10**context.prec - 1, context.Etop())

    def _at(self, exponent, rounding):
        """With that power of ten, and no limit of digits."""
        if self._int == 0 or self._exp >= exponent:
            return _made(self._sign, self._int * 10 ** max(self._exp - exponent, 0), exponent)
        places = exponent - self._exp
        if places > _digits(self._int) + 1:
            unit, kept, rest = 10, 0, 1
        else:
            unit = 10**places
            kept, rest = divmod(self._int, unit)
        return _made(self._sign, kept + _goes_up(kept, rest, unit, rounding, self._sign), exponent)

    def _add(self, other, context):
        found = self._nan_of(context, other)
        if found is not None:
            return found
        if self._exp == "F":
            return context._invalid() if other._exp == "F" and self._sign != other._sign else self
        if other._exp == "F":
            return other
        a, b = (self, other) if self._exp >= other._exp else (other, self)
        apart = a._exp - b._exp
        if a._int and b._int and apart > 2 * context.prec + _digits(b._int) + 10:
            # The small one only decides how the large one is rounded.
            low = a._exp + _digits(a._int) - context.prec - 2
            if low > b._exp + _digits(b._int):
                b, apart = _made(b._sign, 1, min(low, a._exp - 2)), a._exp - min(low, a._exp - 2)
        total = (-a._int if a._sign else a._int) * 10**apart + (-b._int if b._sign else b._int)
        if total == 0:
            if self._sign == other._sign:
                sign = self._sign
            else:
                sign = int(context.rounding == ROUND_FLOOR)
            return _made(sign, 0, b._exp)._fix(context)
        return _made(int(total < 0), abs(total), b._exp)._fix(context)

    def _subtract(self, other, context):
        found = self._nan_of(context, other)
        return self._add(other.copy_negate(), context) if found is None else found

    def _multiply(self, other, context):
        found = self._nan_of(context, other)
        if found is not None:
            return found
        sign = self._sign ^ other._sign
        if self._exp == "F" or other._exp == "F":
            return _infinity(sign) if self and other else context._invalid()
        return _made(sign, self._int * other._int, self._exp + other._exp)._fix(context)

    def _divide(self, other, context):
        found = self._nan_of(context, other)
        if found is not None:
            return found
        sign = self._sign ^ other._sign
        if self._exp == "F":
            return context._invalid() if other._exp == "F" else _infinity(sign)
        if other._exp == "F":
            context._signal(Clamped)
            return _made(sign, 0, context.Etiny())
        if not other._int:
            if not self._int:
                return context._invalid(DivisionUndefined)
            context._signal(DivisionByZero)
            return _infinity(sign)
        ideal = self._exp - other._exp
        if not self._int:
            return _made(sign, 0, ideal)._fix(context)
        shift = _digits(other._int) - _digits(self._int) + context.prec + 1
        exponent = ideal - shift
        quotient, rest = divmod(self._int * 10 ** max(shift, 0), other._int * 10 ** max(-shift, 0))
        if rest:
            quotient += quotient % 5 == 0
        else:
            while exponent < ideal and quotient % 10 == 0:
                quotient, exponent = quotient // 10, exponent + 1
        return _made(sign, quotient, exponent)._fix(context)

    def _parts(self, other, context):
        """Whole quotient and rest, both numbers finite and the second not zero."""
        sign = self._sign ^ other._sign
        low = min(self._exp, other._exp)
        size = self.adjusted() - other.adjusted()
        if self._int == 0 or size <= -2:
            return _made(sign, 0, 0), self._at(low if self._int == 0 or self._exp - low < context.prec else self._exp,
                                               ROUND_DOWN)
        if size <= context.prec:
            quotient, rest = divmod(self._int * 10 ** (self._exp - low), other._int * 10 ** (other._exp - low))
            if quotient < 10**context.prec:
                return _made(sign, quotient, 0), _made(self._sign, rest, low)
        found = context._invalid(DivisionImpossible)
        return found, found

    def _divide_int(self, other, context):
        found = self._nan_of(context, other)
        if found is not None:
            return found
        sign = self._sign ^ other._sign
        if self._exp == "F":
            return context._invalid() if other._exp == "F" else _infinity(sign)
        if other._exp == "F":
            return _made(sign, 0, 0)
        if not other._int:
            if not self._int:
                return context._invalid(DivisionUndefined)
            context._signal(DivisionByZero)
            return _infinity(sign)
        return self._parts(other, context)[0]._fix(context)

    def _remainder(self, other, context):
        found = self._nan_of(context, other)
        if found is not None:
            return found
        if self._exp == "F" or not other:
            return context._invalid(DivisionUndefined if self._exp != "F" and not self else InvalidOperation)
        if other._exp == "F":
            return self._fix(context)
        return self._parts(other, context)[1]._fix(context)

    def _divmod(self, other, context):
        found = self._nan_of(context, other)
        if found is not None:
            return found, found
        sign = self._sign ^ other._sign
        if self._exp == "F":
            if other._exp == "F":
                return context._invalid(), _nan()
            return _infinity(sign), context._invalid()
        if not other and other._exp != "F":
            if not self:
                return context._invalid(DivisionUndefined), _nan()
            context._signal(DivisionByZero)
            return _infinity(sign), context._invalid()
        if other._exp == "F":
            return _made(sign, 0, 0), self._fix(context)
        whole, rest = self._parts(other, context)
        return whole, rest._fix(context)

    def _minus(self, context):
        found = self._nan_of(context)
        if found is not None:
            return found
        if not self and context.rounding != ROUND_FLOOR:
            return self.copy_abs()._fix(context)
        return self.copy_negate()._fix(context)

    def _plus(self, context):
        found = self._nan_of(context)
        if found is not None:
            return found
        if not self and context.rounding != ROUND_FLOOR:
            return self.copy_abs()._fix(context)
        return self._fix(context)

    def _abs(self, context):
        return self._minus(context) if self._sign else self._plus(context)

    def _text(self, engineering, context):
        return text(self, engineering, context)

    def _power(self, other, modulo, context):
        return power(self, other, modulo, context)

    __add__ = _operators("_add")[0]
    __radd__ = __add__
    __sub__, __rsub__ = _operators("_subtract")
    __mul__ = _operators("_multiply")[0]
    __rmul__ = __mul__
    __truediv__, __rtruediv__ = _operators("_divide")
    __floordiv__, __rfloordiv__ = _operators("_divide_int")
    __mod__, __rmod__ = _operators("_remainder")
    __divmod__, __rdivmod__ = _operators("_divmod")

    def __pow__(self, other, modulo=None):
        other = _taken(other)
        return other if other is NotImplemented else power(self, other, modulo, getcontext())

    def __rpow__(self, other):
        other = _taken(other)
        return other if other is NotImplemented else power(other, self, None, getcontext())

    def __neg__(self):
        return self._minus(getcontext())

    def __pos__(self):
        return self._plus(getcontext())

    def __abs__(self):
        return self._abs(getcontext())

    def __bool__(self):
        return self._special() or self._int != 0

    def _order(self, other):
        """-1, 0 or 1 of two numbers, neither of them "no number"."""
        a = 0 if not self else -1 if self._sign else 1
        b = 0 if not other else -1 if other._sign else 1
        if a != b or a == 0:
            return (a > b) - (a < b)
        if self._special() or other._special():
            return a * (self._special() - other._special())
        high, low = self.adjusted(), other.adjusted()
        if high != low:
            return a if high > low else -a
        shift = self._exp - other._exp
        x, y = self._int * 10 ** max(shift, 0), other._int * 10 ** max(-shift, 0)
        return a * ((x > y) - (x < y))

    def __eq__(self, other):
        a, b = _compared(self, other, True)
        if b is NotImplemented:
            return b
        if a.is_nan() or b.is_nan():
            if a._exp == "N" or b._exp == "N":
                getcontext()._signal(InvalidOperation)
            return False
        return a._order(b) == 0

    def _ordered(self, other, wanted):
        a, b = _compared(self, other)
        if b is NotImplemented:
            return b
        if a.is_nan() or b.is_nan():
            getcontext()._signal(InvalidOperation)
            return False
        return a._order(b) in wanted

    def __lt__(self, other):
        return self._ordered(other, (-1,))

    def __le__(self, other):
        return self._ordered(other, (-1, 0))

    def __gt__(self, other):
        return self._ordered(other, (1,))

    def __ge__(self, other):
        return self._ordered(other, (0, 1))

    def __hash__(self):
        if self._exp == "N":
            raise TypeError("Cannot hash a signaling NaN value.")
        if self._exp == "n":
            return object.__hash__(self)
        if self._exp == "F":
            return -314159 if self._sign else 314159
        if self._exp >= 0 or self._isinteger():
            return hash(int(self))
        near = float(self)
        return hash(near) if near.as_integer_ratio() == self.as_integer_ratio() else hash(self.as_integer_ratio())

    def __float__(self):
        if self._exp == "N":
            raise ValueError("cannot convert signaling NaN to float")
        return float(str(self) if self._exp != "n" else "-nan" if self._sign else "nan")

    def __int__(self):
        if self._special():
            if self.is_nan():
                raise ValueError("cannot convert NaN to integer")
            raise OverflowError("cannot convert Infinity to integer")
        size = self._int * 10**self._exp if self._exp >= 0 else self._int // 10**-self._exp
        return -size if self._sign else size

    __trunc__ = __int__

    def _whole(self, rounding):
        if self._special():
            return int(self)
        return int(self._at(0, rounding)) if self._exp < 0 else int(self)

    def __floor__(self):
        return self._whole(ROUND_FLOOR)

    def __ceil__(self):
        return self._whole(ROUND_CEILING)

    def __round__(self, n=None):
        if n is None:
            return self._whole(ROUND_HALF_EVEN)
        if not isinstance(n, int):
            raise TypeError("Second arg to round should be integral")
        return self.quantize(_made(0, 1, -n))

    def __complex__(self):
        return complex(float(self))

    def __str__(self):
        return text(self, False, getcontext())

    def __repr__(self):
        return f"Decimal('{self}')"

    def __format__(self, specifier):
        return formatted(self, specifier, getcontext())

    def __reduce__(self):
        return type(self), (str(self),)

    def __copy__(self):
        return self if type(self) is Decimal else type(self)(str(self))

    def __deepcopy__(self, memo):
        return self.__copy__()

    @property
    def real(self):
        return self

    @property
    def imag(self):
        return _made(0, 0, 0)

    def conjugate(self):
        return self

    def to_eng_string(self, context=None):
        return text(self, True, context or getcontext())

    def as_tuple(self):
        digits = () if self._exp == "F" else tuple([int(c) for c in str(self._int)])
        if self._exp in ("n", "N") and not self._int:
            digits = ()
        return DecimalTuple(self._sign, (0,) if self._exp == "F" else digits, self._exp)

    def as_integer_ratio(self):
        if self._special():
            if self.is_nan():
                raise ValueError("cannot convert NaN to integer ratio")
            raise OverflowError("cannot convert Infinity to integer ratio")
        top = -self._int if self._sign else self._int
        if self._exp >= 0:
            return top * 10**self._exp, 1
        below = 10**-self._exp
        shared = math.gcd(top, below)
        return top // shared, below // shared
