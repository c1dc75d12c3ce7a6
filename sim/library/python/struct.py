from math import frexp, isinf, isnan, ldexp, copysign

_SIZES = {
    "c": 1, "b": 1, "B": 1, "?": 1, "h": 2, "H": 2, "e": 2, "i": 4, "I": 4, "l": 8, "L": 8, "f": 4, "q": 8, "Q": 8,
    "d": 8, "n": 8, "N": 8, "P": 8, "s": 1, "x": 1,
}  # fmt: skip
_FLOATS = {"e": (5, 10), "f": (8, 23), "d": (11, 52)}


class error(Exception):
    pass


def _parts(format):
    """The order of bytes, and of each item its letter, count, bytes before it and bytes of one."""
    native = not format or format[0] not in "<>=!"
    order = "big" if format[:1] in (">", "!") else "little"
    parts, size, count = [], 0, ""
    for c in format:
        if c.isdigit():
            count += c
        elif c in _SIZES:
            width = 4 if c in "lL" and not native else _SIZES[c]
            before = -size % width if native and c not in "sx" else 0
            number = int(count) if count else 1
            parts.append((c, number, before, width))
            size += before + width * number
            count = ""
        elif c not in "<>=!@ ":
            raise error("bad char in struct format")
    return order, parts, size


def calcsize(format):
    return _parts(format)[2]


def _bits_of(value, letter):
    exponent_bits, part_bits = _FLOATS[letter]
    bias, most = (1 << exponent_bits - 1) - 1, (1 << exponent_bits) - 1
    sign = 1 if copysign(1.0, value) < 0 else 0
    value = abs(value)
    if isnan(value):
        exponent, part = most, 1 << part_bits - 1
    elif isinf(value):
        exponent, part = most, 0
    elif value == 0:
        exponent = part = 0
    else:
        fraction, power = frexp(value)
        exponent = power - 1 + bias
        if exponent > 0:
            part = round(ldexp(fraction * 2 - 1, part_bits))
        else:
            part, exponent = round(ldexp(fraction, part_bits + power + bias - 1)), 0
        if part >> part_bits:
            part, exponent = 0, exponent + 1
        if exponent >= most:
            raise OverflowError(f"float too large to pack with {letter} format")
    return (sign << exponent_bits | exponent) << part_bits | part


def _float_of(bits, letter):
    exponent_bits, part_bits = _FLOATS[letter]
    part, high = bits & (1 << part_bits) - 1, bits >> part_bits
    exponent, bias = high & (1 << exponent_bits) - 1, (1 << exponent_bits - 1) - 1
    if exponent == (1 << exponent_bits) - 1:
        value = float("nan") if part else float("inf")
    elif exponent:
        value = ldexp(float(part | 1 << part_bits), exponent - bias - part_bits)
    else:
        value = ldexp(float(part), 1 - bias - part_bits)
    return -value if high >> exponent_bits else value


def _packed(value, letter, width, order):
    if letter == "c":
        return bytes(value)
    if letter == "?":
        return b"\x01" if value else b"\x00"
    if letter in _FLOATS:
        return _bits_of(float(value), letter).to_bytes(width, order)
    if not hasattr(value, "__index__"):
        raise error("required argument is not an integer")
    low, high = (-(1 << 8 * width - 1), (1 << 8 * width - 1) - 1) if letter.islower() else (0, (1 << 8 * width) - 1)
    value = value.__index__()
    if not low <= value <= high:
        raise error(f"'{letter}' format requires {low} <= number <= {high}")
    return value.to_bytes(width, order, signed=letter.islower())


def pack(format, /, *values):
    order, parts, _ = _parts(format)
    out, values = b"", list(values)
    wanted = sum([1 if c == "s" else 0 if c == "x" else number for c, number, _, _ in parts])
    if wanted != len(values):
        raise error(f"pack expected {wanted} items for packing (got {len(values)})")
    for letter, number, before, width in parts:
        out += bytes(before)
        if letter == "s":
            out += (bytes(values.pop(0)) + bytes(number))[:number]
        elif letter == "x":
            out += bytes(number)
        else:
            for _ in range(number):
                out += _packed(values.pop(0), letter, width, order)
    return out


def unpack_from(format, /, buffer, offset=0):
    order, parts, size = _parts(format)
    data, out = bytes(buffer)[offset:], []
    if len(data) < size:
        raise error(f"unpack_from requires a buffer of at least {offset + size} bytes")
    at = 0
    for letter, number, before, width in parts:
        at += before
        if letter == "s":
            out.append(data[at : at + number])
        elif letter != "x":
            for i in range(number):
                one = data[at + i * width : at + (i + 1) * width]
                if letter in ("c", "?"):
                    out.append(one if letter == "c" else one != b"\x00")
                elif letter in _FLOATS:
                    out.append(_float_of(int.from_bytes(one, order), letter))
                else:
                    out.append(int.from_bytes(one, order, signed=letter.islower()))
        at += number * width
    return tuple(out)


def unpack(format, buffer, /):
    size = calcsize(format)
    if len(buffer) != size:
        raise error(f"unpack requires a buffer of {size} bytes")
    return unpack_from(format, buffer)


def iter_unpack(format, buffer, /):
    size = calcsize(format)
    for at in range(0, len(buffer), size):
        yield unpack_from(format, buffer, at)


def pack_into(format, buffer, offset, /, *values):
    data = pack(format, *values)
    buffer[offset : offset + len(data)] = data


class Struct:
    def __init__(self, format):
        self.format, self.size = format, calcsize(format)

    def pack(self, *values):
        return pack(self.format, *values)

    def unpack(self, buffer):
        return unpack(self.format, buffer)

    def unpack_from(self, buffer, offset=0):
        return unpack_from(self.format, buffer, offset)

    def pack_into(self, buffer, offset, *values):
        pack_into(self.format, buffer, offset, *values)

    def iter_unpack(self, buffer):
        return iter_unpack(self.format, buffer)
