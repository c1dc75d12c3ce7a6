"""Methods of Decimal that are not operators; powers, roots, exponents and logarithms, which are rounded once."""

import decimal
import math
from _decimal_context import (
    Clamped, DivisionByZero, Inexact, InvalidOperation, Overflow, ROUND_CEILING,
    ROUND_FLOOR, ROUND_HALF_EVEN, Rounded, Subnormal, Underflow, getcontext,
)


def _log_ten(places):
    """ln 10 times 10**places."""
    return _log_scaled(10, 1, places)


def _exp_scaled(top, places):
    """e**(top / 10**places) times 10**places, for a small exponent, to a few units."""
    halvings, unit = 8 + math.isqrt(places), 10 ** (places + 10 + places // 8)
    x = top * (unit // 10**places) >> halvings
    term = total = unit
    n = 1
    while term:
        term = term * x // (unit * n)
        total += term
        n += 1
    for _ in range(halvings):
        total = total * total // unit
    return total // (unit // 10**places)


def _log_scaled(top, below, places):
    """ln(top / below) times 10**places, to a few units."""
    places += 6
    unit = 10**places
    twos = top.bit_length() - below.bit_length()
    x = (top * unit << max(-twos, 0)) // (below << max(twos, 0))  # between a half and two
    found = _log_near_one(x, unit)
    if twos:
        found += twos * _log_near_one(2 * unit, unit)
    return found // 10**6


def _log_near_one(x, unit):
    """ln(x / unit) times unit: 2 artanh((x - 1) / (x + 1)) of a root near one."""
    roots = 0
    while abs(x - unit) * 64 > unit and roots < 12:
        x = math.isqrt(x * unit)
        roots += 1
    z = abs(x - unit) * unit // (x + unit)
    square, power, total, n = z * z // unit, z, 0, 1
    while power:
        total += power // n
        power = power * square // unit
        n += 2
    return (total if x > unit else -total) << roots + 1


def _rounded_once(estimate, context):
    """The result of estimate(places) -> (sign, coefficient, power of ten), good to a few units, once its digits say
    how it is rounded."""
    extra = 6
    while True:
        sign, size, exponent = estimate(context.prec + extra)
        cut = decimal._digits(size) - context.prec
        if cut > 2:
            unit = 10 ** (cut - 1)
            near = size % (5 * unit)
            if 100 < near < 5 * unit - 100:
                break
        extra += extra
    kept = context.copy()
    kept.rounding = ROUND_HALF_EVEN
    kept.clear_flags()
    kept.clear_traps()
    made = decimal._made(sign, size, exponent)._fix(kept)
    context._signal(*[signal for signal in kept.flags if kept.flags[signal]])
    return made


def exp(number, context):
    """e**number of a finite number that is not zero."""
    if number.adjusted() > 20:
        return decimal._made(0, 1, 10**21 * (-1 if number._sign else 1))._fix(context)
    signed = -number._int if number._sign else number._int

    def estimate(places):
        places += 4
        ten = _log_ten(places + max(number.adjusted(), 0) + 2)
        scale = places + max(number.adjusted(), 0) + 2
        x = signed * 10 ** (number._exp + scale) if number._exp + scale >= 0 else signed // 10 ** -(
            number._exp + scale)
        power, rest = divmod(x, ten)
        return 0, _exp_scaled(rest // 10 ** (scale - places), places), power - places

    if number.adjusted() < -context.prec - 3:
        above = 10 ** (context.prec + 2)
        return decimal._made(0, above + (-1 if number._sign else 1), -context.prec - 2)._fix(context)
    return _rounded_once(estimate, context)


def _log_parts(number, places):
    """ln(number) times 10**places."""
    e = number.adjusted()
    shift = number._exp - e
    found = _log_scaled(number._int, 10**-shift, places)
    return found + e * _log_ten(places + decimal._digits(abs(e) + 1)) // 10 ** decimal._digits(abs(e) + 1)


def ln(number, context):
    def estimate(places):
        places += 4 + number._near_one()
        found = _log_parts(number, places)
        return int(found < 0), abs(found), -places

    return _rounded_once(estimate, context)


def log10(number, context):
    digits = str(number._int)
    if digits.rstrip("0") == "1":
        return decimal._taken(number._exp + len(digits) - 1)._fix(context)

    def estimate(places):
        places += 4 + number._near_one()
        found = _log_parts(number, places) * 10**places // _log_ten(places)
        return int(found < 0), abs(found), -places

    return _rounded_once(estimate, context)


def sqrt(number, context):
    ideal = number._exp >> 1
    if not number._int:
        return decimal._made(number._sign, 0, ideal)._fix(context)
    size, exponent = (number._int, ideal) if number._exp % 2 == 0 else (number._int * 10, ideal)
    shift = context.prec + 1 - (decimal._digits(size) + 1 >> 1)
    if shift >= 0:
        size *= 100**shift
        root = math.isqrt(size)
        is_exact = root * root == size
    else:
        size, rest = divmod(size, 100**-shift)
        root = math.isqrt(size)
        is_exact = not rest and root * root == size
    if is_exact:
        root = root // 10**shift if shift >= 0 else root * 10**-shift
    else:
        root += root % 5 == 0
        exponent -= shift
    kept = context.rounding
    context.rounding = ROUND_HALF_EVEN
    try:
        return decimal._made(0, root, exponent)._fix(context)
    finally:
        context.rounding = kept


def power(base, exponent, modulo, context):
    if modulo is not None:
        return _power_modulo(base, exponent, decimal._taken(modulo), context)
    found = base._nan_of(context, exponent)
    if found is not None:
        return found
    if not exponent:
        return context._invalid() if not base else decimal._made(0, 1, 0)
    is_whole = exponent._isinteger()
    sign = 0
    if base._sign:
        if is_whole:
            sign = int(exponent._exp != "F" and exponent._exp <= 0 and int(exponent) % 2 != 0)
        elif base:
            return context._invalid()
        base = base.copy_abs()
    if not base:
        if exponent._sign:
            return decimal._infinity(sign)
        return decimal._made(sign, 0, 0)
    if base._exp == "F":
        return decimal._made(sign, 0, 0) if exponent._sign else decimal._infinity(sign)
    one = decimal._made(0, 1, 0)
    order = base._order(one)
    if order == 0:
        if is_whole:
            if exponent._sign:
                places = 1 - context.prec
            else:
                places = max(base._exp * min(int(exponent), context.prec) if exponent._exp != "F" else 1 - context.prec,
                             1 - context.prec)
            if base._exp == 0:
                return decimal._made(sign, 1, 0)
            context._signal(Rounded)
            return decimal._made(sign, 10**-places if places < 0 else 1, min(places, 0))
        context._signal(Inexact, Rounded)
        return decimal._made(sign, 10 ** (context.prec - 1), 1 - context.prec)
    if exponent._exp == "F":
        return decimal._made(sign, 0, 0) if (exponent._sign == 0) == (order < 0) else decimal._infinity(sign)
    if is_whole and exponent.adjusted() < 5:
        n = int(exponent)
        if decimal._digits(base._int) * abs(n) <= 20000:
            if n > 0:
                return decimal._made(sign, base._int**n, base._exp * n)._fix(context)
            found = one._divide(decimal._made(sign, base._int**-n, base._exp * -n), context)
            return found
    return _power_by_logarithm(base, exponent, sign, context)


def _power_by_logarithm(base, exponent, sign, context):
    signed = -exponent._int if exponent._sign else exponent._int
    large = base.adjusted() * signed
    if exponent.adjusted() > 25 or abs(large) * 10.0 ** min(exponent._exp, 200) > 10.0**21:
        up = (base._order(decimal._made(0, 1, 0)) > 0) == (exponent._sign == 0)
        return decimal._made(sign, 1, 10**21 if up else -(10**21))._fix(context)
    exact = _exact_power(base, exponent, context)
    if exact is not None:
        context._signal(Inexact, Rounded)
        return decimal._made(sign, exact._int, exact._exp)

    def estimate(places):
        lost = max(exponent.adjusted(), 0) + decimal._digits(abs(base.adjusted()) + 1) + 3
        scale = places + 4 + lost + base._near_one()
        x = _log_parts(base, scale) * signed
        x = x * 10**exponent._exp if exponent._exp >= 0 else x // 10**-exponent._exp
        power, rest = divmod(x, _log_ten(scale))
        return sign, _exp_scaled(rest // 10 ** (scale - places - 4), places + 4), power - places - 4

    return _rounded_once(estimate, context)


def _exact_power(base, exponent, context):
    """An even result of a broken exponent, such as 4 ** 0.5; None where there is none."""
    if exponent._isinteger() or exponent._sign:
        return None
    top, below = exponent.as_integer_ratio()
    if below > 64 or top > 10000:
        return None
    base_top, base_below = base.as_integer_ratio()
    roots = []
    for each in (base_top, base_below):
        root = round(each ** (1 / below)) if each < 10**300 else 0
        if root**below != each:
            return None
        roots.append(root)
    exact = decimal.Decimal(roots[0] ** top)._divide(decimal.Decimal(roots[1] ** top), context)
    size = decimal._digits(exact._int)
    if size > context.prec:
        return None
    return decimal._made(0, exact._int * 10 ** (context.prec - size), exact._exp - context.prec + size)


def _power_modulo(base, exponent, modulo, context):
    found = base._nan_of(context, exponent, modulo)
    if found is not None:
        return found
    all_whole = base._isinteger() and exponent._isinteger() and modulo._isinteger()
    if not all_whole or any([each._special() for each in (base, exponent, modulo)]):
        return context._invalid()
    if exponent._sign or not modulo or not base and not exponent or modulo.adjusted() >= context.prec:
        return context._invalid()
    found = pow(abs(int(base)), int(exponent), abs(int(modulo)))
    return decimal._made(int(bool(found) and base._sign and int(exponent) % 2), found, 0)


class Functions:
    __slots__ = ()

    def is_nan(self):
        return self._exp in ("n", "N")

    def is_qnan(self):
        return self._exp == "n"

    def is_snan(self):
        return self._exp == "N"

    def is_infinite(self):
        return self._exp == "F"

    def is_finite(self):
        return not self._special()

    def is_signed(self):
        return self._sign == 1

    def is_zero(self):
        return not self

    def is_canonical(self):
        return True

    def is_normal(self, context=None):
        return bool(self) and not self._special() and self.adjusted() >= (context or getcontext()).Emin

    def is_subnormal(self, context=None):
        return bool(self) and not self._special() and self.adjusted() < (context or getcontext()).Emin

    def _isinteger(self):
        if self._special():
            return self._exp == "F"
        return self._exp >= 0 or self._int % 10**-self._exp == 0

    def _near_one(self):
        """How many of a logarithm's first places are zeros."""
        away = self._subtract(decimal._made(0, 1, 0), _wide(self))
        return max(-away.adjusted(), 0) if away else 0

    def canonical(self):
        return self

    def copy_abs(self):
        return decimal._made(0, self._int, self._exp)

    def copy_negate(self):
        return decimal._made(1 - self._sign, self._int, self._exp)

    def copy_sign(self, other, context=None):
        return decimal._made(decimal._taken(other, True)._sign, self._int, self._exp)

    def adjusted(self):
        return 0 if self._special() else self._exp + decimal._digits(self._int) - 1

    def radix(self):
        return decimal._made(0, 10, 0)

    def same_quantum(self, other, context=None):
        other = decimal._taken(other, True)
        if self._special() or other._special():
            return self.is_nan() and other.is_nan() or self._exp == other._exp == "F"
        return self._exp == other._exp

    def quantize(self, exp, rounding=None, context=None):
        context = context or getcontext()
        return self._quantize(decimal._taken(exp, True), context, rounding or context.rounding)

    def _quantize(self, exp, context, rounding=None):
        found = self._nan_of(context, exp)
        if found is not None:
            return found
        if self._exp == "F" or exp._exp == "F":
            return self if self._exp == exp._exp else context._invalid()
        if not context.Etiny() <= exp._exp <= context.Emax:
            return context._invalid()
        if self._int and self.adjusted() + 1 - exp._exp > context.prec:
            return context._invalid()
        made = self._at(exp._exp, rounding or context.rounding)
        if made and (made.adjusted() > context.Emax or decimal._digits(made._int) > context.prec):
            return context._invalid()
        if made and made.adjusted() < context.Emin:
            context._signal(Subnormal)
        if exp._exp > self._exp:
            if made._order(self):
                context._signal(Inexact)
            context._signal(Rounded)
        return made._fix(context)

    def normalize(self, context=None):
        context = context or getcontext()
        found = self._nan_of(context)
        if found is not None:
            return found
        made = self._fix(context)
        if made._special():
            return made
        if not made._int:
            return decimal._made(made._sign, 0, 0)
        digits = str(made._int)
        zeros = len(digits) - len(digits.rstrip("0"))
        if context.clamp:
            zeros = min(zeros, context.Etop() - made._exp)
        return decimal._made(made._sign, made._int // 10**zeros, made._exp + zeros)

    def to_integral_value(self, rounding=None, context=None):
        context = context or getcontext()
        return self._to_integral_value(context, rounding)

    to_integral = to_integral_value

    def _to_integral_value(self, context, rounding=None):
        found = self._nan_of(context)
        if found is not None:
            return found
        if self._special() or self._exp >= 0:
            return self
        return self._at(0, rounding or context.rounding)

    _to_integral = _to_integral_value

    def to_integral_exact(self, rounding=None, context=None):
        return self._to_integral_exact(context or getcontext(), rounding)

    def _to_integral_exact(self, context, rounding=None):
        made = self._to_integral_value(context, rounding)
        if not self._special() and self._exp < 0:
            if made._order(self):
                context._signal(Inexact)
            context._signal(Rounded)
        return made

    def compare(self, other, context=None):
        other, context = decimal._taken(other, True), context or getcontext()
        found = self._nan_of(context, other)
        return decimal._taken(self._order(other)) if found is None else found

    def compare_signal(self, other, context=None):
        other, context = decimal._taken(other, True), context or getcontext()
        if self.is_nan() or other.is_nan():
            context._signal(InvalidOperation)
        return self.compare(other, context)

    def compare_total(self, other, context=None):
        other = decimal._taken(other, True)
        if self._sign != other._sign:
            return decimal._taken(-1 if self._sign else 1)
        order = self.compare_total_mag(other)
        return -order if self._sign else order

    def compare_total_mag(self, other, context=None):
        other = decimal._taken(other, True)
        ranks = {"n": 2, "N": 1}
        a, b = ranks.get(self._exp, 0), ranks.get(other._exp, 0)
        if a == b == 0:
            order = self.copy_abs()._order(other.copy_abs())
            if not order and not self._special():
                order = (self._exp > other._exp) - (self._exp < other._exp)
        else:
            order = (a > b) - (a < b) or (self._int > other._int) - (self._int < other._int)
        return decimal._taken(order)

    def _chosen(self, other, context, wanted, by_size):
        other, context = decimal._taken(other, True), context or getcontext()
        for one, two in ((self, other), (other, self)):
            if one.is_nan():
                if one._exp == "n" and not two.is_nan():
                    return two._fix(context)
                return self._nan_of(context, other)
        order = self.copy_abs()._order(other.copy_abs()) if by_size else self._order(other)
        order = order or int(self.compare_total(other))
        return (self if order * wanted >= 0 else other)._fix(context)

    def max(self, other, context=None):
        return self._chosen(other, context, 1, False)

    def min(self, other, context=None):
        return self._chosen(other, context, -1, False)

    def max_mag(self, other, context=None):
        return self._chosen(other, context, 1, True)

    def min_mag(self, other, context=None):
        return self._chosen(other, context, -1, True)

    def fma(self, other, third, context=None):
        other, third = decimal._taken(other, True), decimal._taken(third, True)
        context = context or getcontext()
        found = self._nan_of(context, other) if not third.is_nan() or self.is_nan() or other.is_nan() else third
        if found is not None:
            return found._nan_of(context) if found is third else found
        return self._multiply(other, _wide(self, other, context=context))._add(third, context)

    def remainder_near(self, other, context=None):
        other, context = decimal._taken(other, True), context or getcontext()
        found = self._remainder(other, context)
        if found._special() or other._special():
            return found
        twice = found.copy_abs()._add(found.copy_abs(), _wide(found))
        order = twice._order(other.copy_abs())
        odd = int(self._divide_int(other, context)) % 2
        if order > 0 or order == 0 and odd:
            found = found._subtract(other.copy_sign(found), context)
        return found

    def exp(self, context=None):
        context = context or getcontext()
        found = self._nan_of(context)
        if found is not None:
            return found
        if self._exp == "F":
            return decimal._made(0, 0, 0) if self._sign else self
        return exp(self, context) if self else decimal._made(0, 1, 0)

    def _logarithm(self, context, of):
        found = self._nan_of(context)
        if found is not None:
            return found
        if not self:
            return decimal._infinity(1)
        if self._sign:
            return context._invalid()
        if self._exp == "F":
            return self
        return of(self, context) if self._order(decimal._made(0, 1, 0)) else decimal._made(0, 0, 0)

    def ln(self, context=None):
        return self._logarithm(context or getcontext(), ln)

    def log10(self, context=None):
        return self._logarithm(context or getcontext(), log10)

    def logb(self, context=None):
        context = context or getcontext()
        found = self._nan_of(context)
        if found is not None:
            return found
        if self._exp == "F":
            return decimal._infinity(0)
        if not self:
            context._signal(DivisionByZero)
            return decimal._infinity(1)
        return decimal._taken(self.adjusted())._fix(context)

    def sqrt(self, context=None):
        context = context or getcontext()
        found = self._nan_of(context)
        if found is not None:
            return found
        if self._exp == "F" and not self._sign:
            return self
        if self and self._sign:
            return context._invalid()
        return sqrt(self, context)

    def scaleb(self, other, context=None):
        other, context = decimal._taken(other, True), context or getcontext()
        found = self._nan_of(context, other)
        if found is not None:
            return found
        if other._exp != 0 or abs(int(other)) > 2 * (context.Emax + context.prec):
            return context._invalid()
        return self if self._special() else decimal._made(self._sign, self._int, self._exp + int(other))._fix(context)

    def _step(self, context, up):
        found = self._nan_of(context)
        if found is not None:
            return found
        if self._exp == "F":
            if self._sign != up:
                return self
            return decimal._made(self._sign, 10**context.prec - 1, context.Etop())
        quiet = context.copy()
        quiet.rounding = ROUND_CEILING if up else ROUND_FLOOR
        quiet.clear_traps()
        made = self._fix(quiet)
        if made._special() or made._order(self):
            return made
        return self._add(decimal._made(int(not up), 1, quiet.Etiny() - 1), quiet)

    def next_plus(self, context=None):
        return self._step(context or getcontext(), True)

    def next_minus(self, context=None):
        return self._step(context or getcontext(), False)

    def next_toward(self, other, context=None):
        other, context = decimal._taken(other, True), context or getcontext()
        found = self._nan_of(context, other)
        if found is not None:
            return found
        order = self._order(other)
        if not order:
            return self.copy_sign(other)
        made = self._step(context, order < 0)
        if made._exp == "F":
            context._signal(Overflow, Inexact, Rounded)
        elif made.adjusted() < context.Emin:
            context._signal(Underflow, Subnormal, Inexact, Rounded, *([] if made else [Clamped]))
        return made

    def number_class(self, context=None):
        if self.is_nan():
            return "sNaN" if self._exp == "N" else "NaN"
        sign = "-" if self._sign else "+"
        if self._exp == "F":
            return sign + "Infinity"
        if not self:
            return sign + "Zero"
        return sign + ("Subnormal" if self.is_subnormal(context) else "Normal")


def _wide(*numbers, context=None):
    """A context in which the numbers' sums and products are exact."""
    wide = (context or getcontext()).copy()
    sizes = [0 if each._special() else decimal._digits(each._int) + abs(each._exp) for each in numbers]
    wide.prec = 10 + 2 * sum(sizes)
    wide.Emax, wide.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
    wide.clear_traps()
    return wide
