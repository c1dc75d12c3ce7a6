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


def _divided(self, other):
    return (self // other, self % other)


def int___divmod__(self, other, /):
    return _divided(int(self), other) if isinstance(other, int) else NotImplemented


def int___rdivmod__(self, other, /):
    return _divided(other, int(self)) if isinstance(other, int) else NotImplemented


def float___divmod__(self, other, /):
    return _divided(float(self), other) if isinstance(other, (int, float)) else NotImplemented


def float___rdivmod__(self, other, /):
    return _divided(other, float(self)) if isinstance(other, (int, float)) else NotImplemented


def int___ceil__(self):
    return int(self)


int___floor__ = int___ceil__


def int___round__(self, ndigits=None, /):
    return round(int(self), ndigits)


def int___getnewargs__(self):
    return (int(self),)


def float___ceil__(self):
    from math import ceil

    return ceil(float(self))


def float___floor__(self):
    from math import floor

    return floor(float(self))


def float___round__(self, ndigits=None, /):
    return round(float(self)) if ndigits is None else round(float(self), ndigits)


def float___getnewargs__(self):
    return (float(self),)


def str___getnewargs__(self):
    return (str(self),)


def str_isprintable(self):
    return all([c == " " or not (c.isspace() or repr(c)[1] == "\\") or c == "\\" for c in self])


def str_format_map(self, mapping, /):
    import string

    return string.Formatter().vformat(self, (), mapping)


def list___iadd__(self, value, /):
    list.extend(self, value)
    return self


def list___imul__(self, value, /):
    items = list(self) * value
    list.clear(self)
    list.extend(self, items)
    return self


def dict___ior__(self, value, /):
    dict.update(self, value)
    return self


def dict___ror__(self, value, /):
    if not isinstance(value, dict):
        return NotImplemented
    return dict(value) | dict(self)


def _changed_by(method):
    def change(self, value, /):
        if not isinstance(value, (set, frozenset)):
            return NotImplemented
        method(self, value)
        return self

    return change


set___ior__ = _changed_by(set.update)
set___isub__ = _changed_by(set.difference_update)
set___iand__ = _changed_by(set.intersection_update)
set___ixor__ = _changed_by(set.symmetric_difference_update)


def set___ror__(self, value, /):
    return set(value) | self if isinstance(value, (set, frozenset)) else NotImplemented


def set___rand__(self, value, /):
    return value & self if isinstance(value, (set, frozenset)) else NotImplemented


def set___rsub__(self, value, /):
    return value - self if isinstance(value, (set, frozenset)) else NotImplemented


def set___rxor__(self, value, /):
    return value ^ self if isinstance(value, (set, frozenset)) else NotImplemented


frozenset___ror__, frozenset___rand__ = set___ror__, set___rand__
frozenset___rsub__, frozenset___rxor__ = set___rsub__, set___rxor__


def range___bool__(self):
    return len(self) > 0


def range___reversed__(self):
    return reversed(self)


def slice___repr__(self):
    return repr(self)


def _view_isdisjoint(self, other, /):
    return set(self).isdisjoint(other)


def _view_len(self):
    return len(self)


def _view_iter(self):
    return iter(self)


def _view_contains(self, key, /):
    return key in self


def _view_reversed(self):
    return reversed(self)


dict_keys_isdisjoint = dict_items_isdisjoint = _view_isdisjoint
dict_keys___len__ = dict_items___len__ = dict_values___len__ = _view_len
dict_keys___iter__ = dict_items___iter__ = dict_values___iter__ = _view_iter
dict_keys___contains__ = dict_items___contains__ = _view_contains
dict_keys___reversed__ = dict_items___reversed__ = dict_values___reversed__ = _view_reversed


def _view_and(self, other, /):
    return self & other


def _view_or(self, other, /):
    return self | other


def _view_sub(self, other, /):
    return self - other


def _view_xor(self, other, /):
    return self ^ other


dict_keys___and__ = dict_items___and__ = _view_and
dict_keys___or__ = dict_items___or__ = _view_or
dict_keys___sub__ = dict_items___sub__ = _view_sub
dict_keys___xor__ = dict_items___xor__ = _view_xor


def BaseException_add_note(self, note, /):
    if not isinstance(note, str):
        raise TypeError(f"note must be a str, not '{type(note).__name__}'")
    if not hasattr(self, "__notes__"):
        self.__notes__ = []
    self.__notes__.append(note)


def _first_argument(self):
    return self.args[0] if self.args else None


ImportError_msg = property(_first_argument)
ImportError_name = ImportError_path = property(lambda self: None)
AttributeError_name = AttributeError_obj = NameError_name = property(lambda self: None)
SyntaxError_msg = property(_first_argument)


def _place_part(place):
    def part(self):
        return self.args[1][place] if len(self.args) > 1 and len(self.args[1]) > place else None

    return property(part)


SyntaxError_filename, SyntaxError_lineno = _place_part(0), _place_part(1)
SyntaxError_offset, SyntaxError_text = _place_part(2), _place_part(3)
SyntaxError_end_lineno, SyntaxError_end_offset = _place_part(4), _place_part(5)
SyntaxError_print_file_and_line = property(lambda self: None)


def _argument(place):
    return property(lambda self: self.args[place] if len(self.args) > place else None)


UnicodeDecodeError_encoding = UnicodeEncodeError_encoding = _argument(0)
UnicodeDecodeError_object = UnicodeEncodeError_object = _argument(1)
UnicodeDecodeError_start = UnicodeEncodeError_start = _argument(2)
UnicodeDecodeError_end = UnicodeEncodeError_end = _argument(3)
UnicodeDecodeError_reason = UnicodeEncodeError_reason = _argument(4)
OSError_filename2 = property(lambda self: None)
