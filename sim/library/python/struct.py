import _tidemark

_SIZES = {
    "c": 1, "b": 1, "B": 1, "?": 1, "h": 2, "H": 2, "e": 2, "i": 4, "I": 4, "l": 8, "L": 8, "f": 4, "q": 8, "Q": 8,
    "d": 8, "n": 8, "N": 8, "P": 8, "s": 1, "x": 1,
}
pack, unpack, pack_into, unpack_from, iter_unpack, Struct = [
    _tidemark.later("struct." + n) for n in ("pack", "unpack", "pack_into", "unpack_from", "iter_unpack", "Struct")
]


class error(Exception):
    pass


def calcsize(format):
    native = not format or format[0] not in "<>=!"
    size, count = 0, ""
    for c in format:
        if c.isdigit():
            count += c
        elif c in _SIZES:
            width = 4 if c in "lL" and not native else _SIZES[c]
            if native and c not in "sx":
                size = (size + width - 1) // width * width
            size += width * int(count or 1)
            count = ""
    return size
