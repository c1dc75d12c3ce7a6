"""Methods of built-in types that few programs ask for, each as TYPE_NAME: a program that asks for one loads it."""


def str_swapcase(self):
    return "".join([c.lower() if c.isupper() else c.upper() for c in self])


def str_istitle(self):
    cased = inside = False
    for c in self:
        if c.isupper():
            if inside:
                return False
            cased = inside = True
        elif c.islower():
            if not inside:
                return False
        else:
            inside = False
    return cased


int_real = property(lambda self: int(self))
int_imag = property(lambda self: 0)
int_numerator = property(lambda self: int(self))
int_denominator = property(lambda self: 1)
float_real = property(lambda self: float(self))
float_imag = property(lambda self: 0.0)


def int_as_integer_ratio(self):
    return (int(self), 1)


def float_as_integer_ratio(self):
    if self != self:
        raise ValueError("cannot convert NaN to integer ratio")
    if self - self != 0:
        raise OverflowError("cannot convert Infinity to integer ratio")
    below, value = 1, float(self)
    while value != int(value):
        value, below = value * 2, below * 2
    return (int(value), below)


def float_hex(self):
    from math import copysign, frexp

    if self != self:
        return "nan"
    sign = "-" if copysign(1.0, self) < 0 else ""
    value = abs(self)
    if value - value != 0:
        return sign + "inf"
    if value == 0:
        return sign + "0x0.0p+0"
    part, exponent = frexp(value)
    shift = 1 - max(-1021 - exponent, 0)
    part, exponent = part * 2**shift, exponent - shift
    digits = f"{int(part * 2**52) & (2**52 - 1):013x}"
    return f"{sign}0x{int(part)}.{digits}p{exponent:+d}"


@staticmethod
def float_fromhex(string):
    text = string.strip().lower()
    sign = -1.0 if text.startswith("-") else 1.0
    text = text.lstrip("+-")
    if text in ("inf", "infinity", "nan"):
        return sign * float(text)
    whole, _, exponent = text.removeprefix("0x").partition("p")
    whole, _, part = whole.partition(".")
    try:
        value = float(int(whole or "0", 16))
        for place, digit in enumerate(part, 1):
            value += int(digit, 16) * 16.0**-place
        return sign * value * 2.0 ** int(exponent or "0")
    except ValueError:
        raise ValueError("invalid hexadecimal floating-point string") from None


def slice_indices(self, length, /):
    if length < 0:
        raise ValueError("length should not be negative")
    step = 1 if self.step is None else self.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (-1, length - 1) if step < 0 else (0, length)

    def bound(value, otherwise):
        if value is None:
            return otherwise
        return max(value + length, low) if value < 0 else min(value, high)

    return (bound(self.start, high if step < 0 else low), bound(self.stop, low if step < 0 else high), step)


def range_index(self, value, /):
    if value not in self:
        raise ValueError(f"{value!r} is not in range")
    return (value - self.start) // self.step


def range_count(self, value, /):
    return 1 if value in self else 0


def int_bit_count(self):
    return bin(abs(self)).count("1")
