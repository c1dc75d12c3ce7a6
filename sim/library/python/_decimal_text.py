"""Decimals as text, and by a format's words."""

import decimal
import re

_FORMAT = re.compile(
    r"(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(?!0)(\d+)?(,)?(?:\.(0|(?!0)\d+))?([eEfFgGn%])?", re.DOTALL
)


def text(number, engineering, context):
    sign = "-" if number._sign else ""
    if number._exp == "F":
        return sign + "Infinity"
    if number._special():
        return sign + ("sNaN" if number._exp == "N" else "NaN") + (str(number._int) if number._int else "")
    digits = str(number._int)
    left = number._exp + len(digits)
    if number._exp <= 0 and left > -6:
        point = left
    elif not engineering:
        point = 1
    elif number._int == 0:
        point = (left + 1) % 3 - 1
    else:
        point = (left - 1) % 3 + 1
    whole, part = _split(digits, point)
    if part:
        whole += "." + part
    if left == point:
        return sign + whole
    return sign + whole + f"{'E' if context.capitals else 'e'}{left - point:+d}"


def _split(digits, point):
    if point <= 0:
        return "0", "0" * -point + digits
    if point >= len(digits):
        return digits + "0" * (point - len(digits)), ""
    return digits[:point], digits[point:]


def _rounded(number, places, rounding):
    """To that many digits."""
    if number._int == 0:
        return number
    found = number._at(number.adjusted() + 1 - places, rounding)
    if found.adjusted() != number.adjusted():
        found = found._at(found.adjusted() + 1 - places, rounding)
    return found


def formatted(number, specifier, context):
    found = _FORMAT.fullmatch(specifier)
    if found is None:
        raise ValueError("invalid format string")
    fill, align, sign, no_minus_zero, alternate, zero, width, comma, precision, kind = found.groups()
    if zero and (fill is not None or align is not None):
        raise ValueError("invalid format string")
    width = int(width or "0")
    if zero and not align:
        fill, align = "0", "="
    fill, align = fill or " ", align or ">"
    minus = number._sign
    if number._special():
        body = text(number.copy_abs(), False, context) + ("%" if kind == "%" else "")
        if zero:
            fill, align = " ", ">"
        return _aligned(_sign(minus, sign), body, fill, align, width)
    if kind == "n" and comma:
        raise ValueError("invalid format string")
    if kind is None or kind == "n":
        kind = "G" if context.capitals else "g"
    precision = None if precision is None else int(precision)
    if kind in "gG" and precision == 0:
        precision = 1
    if kind == "%":
        number = decimal._made(number._sign, number._int, number._exp + 2)
    if precision is not None:
        if kind in "eE":
            number = _rounded(number, precision + 1, context.rounding)
        elif kind in "fF%":
            number = number._at(-precision, context.rounding) if number._exp < -precision else decimal._made(
                number._sign, number._int * 10 ** (number._exp + precision), -precision)
        elif len(str(number._int)) > precision:
            number = _rounded(number, precision, context.rounding)
    if kind in "fF%" and number._exp > 0 and not number:
        number = decimal._made(number._sign, 0, 0)
    if no_minus_zero and not number:
        minus = 0
    digits = str(number._int)
    left = number._exp + len(digits)
    if kind in "eE":
        point = 1 - precision if not number and precision is not None else 1
    elif kind in "fF%":
        point = left
    else:
        point = left if number._exp <= 0 and left > -6 else 1
    whole, part = _split(digits, point)
    tail = "." + part if part or alternate else ""
    if left != point or kind in "eE":
        tail += f"{'E' if kind in 'EG' else 'e'}{left - point:+d}"
    if kind == "%":
        tail += "%"
    head = _sign(minus, sign)
    room = width - len(head) - len(tail) if fill == "0" and align == "=" else 0
    if comma:
        whole = _grouped(whole, room)
    else:
        whole = whole.rjust(room, "0")
    return _aligned(head, whole + tail, fill, align, width)


def _grouped(whole, room):
    shown = f"{int(whole):,}"
    while len(shown) < room:
        whole = "0" + whole
        start = len(whole) % 3
        groups = [whole[:start]] * (start > 0) + [whole[i:i + 3] for i in range(start, len(whole), 3)]
        shown = ",".join(groups)
    return shown


def _sign(minus, sign):
    return "-" if minus else sign if sign in (" ", "+") else ""


def _aligned(sign, body, fill, align, width):
    padding = fill * (width - len(sign) - len(body))
    if align == "<":
        return sign + body + padding
    if align == ">":
        return padding + sign + body
    if align == "=":
        return sign + padding + body
    half = len(padding) // 2
    return padding[:half] + sign + body + padding[half:]
