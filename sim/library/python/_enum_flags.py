"""Enumerations whose members are bits."""

import enum


def _iter_bits_lsb(num):
    if isinstance(num, enum.Enum):
        num = num.value
    if num < 0:
        raise ValueError(f"{num!r} is not a positive integer")
    while num:
        low = num & -num
        yield low
        num ^= low


def show_flag_values(value):
    return list(_iter_bits_lsb(value))


def shown_bits(num, max_bits=None):
    """The number's bits behind its sign, in two's complement."""
    ceiling = 1 << num.bit_length()
    digits = f"{num + ceiling:b}"[1:] if num >= 0 else f"{(~num ^ (ceiling - 1)) + ceiling:b}"[1:]
    if max_bits is not None and len(digits) < max_bits:
        digits = ("0" if num >= 0 else "1") * (max_bits - len(digits)) + digits
    return f"0b{'0' if num >= 0 else '1'} {digits}"


def take_masks(cls):
    """What the members say together: all bits that are named, those of one-bit members, and all up to the highest."""
    flags = singles = 0
    for each in cls._member_map_.values():
        value = each._value_
        if isinstance(value, int):
            flags |= value
            if value > 0 and value & (value - 1) == 0:
                singles |= value
    return flags, singles, (1 << flags.bit_length()) - 1


def missing(cls, value):
    """The member that stands for bits that no member has by itself."""
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")
    known, bits, boundary, negative = cls._flag_mask_, cls._all_bits_, cls._boundary_, None
    if not ~bits <= value <= bits or value & (bits ^ known):
        if boundary is enum.STRICT:
            width = max(value.bit_length(), known.bit_length())
            raise ValueError(
                f"{cls!r} invalid value {value!r}\n    given {shown_bits(value, width)}\n"
                f"  allowed {shown_bits(known, width)}"
            )
        if boundary is enum.CONFORM:
            value &= known
        elif boundary is enum.EJECT:
            return value
        elif value < 0:
            value += max(bits + 1, 1 << value.bit_length())
    if value < 0:
        negative, value = value, bits + 1 + value
    unknown = value & ~known
    kind = cls._member_type_
    made = object.__new__(cls) if kind is object else kind.__new__(cls, value)
    if not hasattr(made, "_value_"):
        made._value_ = value
    names = [each._name_ for each in cls._iter_member_(value)]
    if unknown and names:
        names.append(cls._numeric_repr_(unknown))
    made._name_ = "|".join(names) if names else None
    made = cls._value2member_map_.setdefault(value, made)
    if negative is not None:
        cls._value2member_map_[negative] = made
    return made
