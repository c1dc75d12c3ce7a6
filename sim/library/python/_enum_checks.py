"""What is asked of whole enumerations: unique(), verify()."""

import enum


class EnumCheck(enum.StrEnum):
    CONTINUOUS = "no skipped integer values"
    NAMED_FLAGS = "multi-flag aliases may not contain unnamed flags"
    UNIQUE = "one name per value"


CONTINUOUS, NAMED_FLAGS, UNIQUE = EnumCheck


def _aliases(enumeration):
    return [(name, each.name) for name, each in enumeration.__members__.items() if name != each.name]


def unique(enumeration):
    doubled = _aliases(enumeration)
    if doubled:
        told = ", ".join([f"{alias} -> {name}" for alias, name in doubled])
        raise ValueError(f"duplicate values found in {enumeration!r}: {told}")
    return enumeration


class verify:
    def __init__(self, *checks):
        self.checks = checks

    def __call__(self, enumeration):
        is_flag = issubclass(enumeration, enum.Flag)
        for check in self.checks:
            if check is UNIQUE:
                doubled = _aliases(enumeration)
                if doubled:
                    told = ", ".join([f"{alias} -> {name}" for alias, name in doubled])
                    raise ValueError(f"aliases found in {enumeration!r}: {told}")
            elif check is CONTINUOUS:
                self._continuous(enumeration, is_flag)
            elif check is NAMED_FLAGS:
                self._named(enumeration)
        return enumeration

    def _continuous(self, enumeration, is_flag):
        values = {each.value for each in enumeration}
        if len(values) < 2:
            return
        low, high = min(values), max(values)
        if is_flag:
            wanted = [1 << bit for bit in range(low.bit_length(), high.bit_length() - 1)]
        else:
            wanted = range(low + 1, high)
        missing = [value for value in wanted if value not in values]
        if missing:
            raise ValueError(
                f"invalid {'flag' if is_flag else 'enum'} {enumeration.__name__!r}: "
                f"missing values {', '.join([str(each) for each in missing])}"
            )

    def _named(self, enumeration):
        values = [each._value_ for each in enumeration._member_map_.values()]
        names, lost = [], 0
        for name, each in enumeration._member_map_.items():
            if each._value_ < 0:
                continue
            missing = [bit for bit in enum._iter_bits_lsb(each._value_) if bit not in values]
            if missing:
                names.append(name)
                for bit in missing:
                    lost |= bit
        if names:
            if len(names) == 1:
                alias = f"alias {names[0]} is missing"
            else:
                alias = f"aliases {', '.join(names[:-1])} and {names[-1]} are missing"
            what = f"value 0x{lost:x}" if lost & (lost - 1) == 0 else f"combined values of 0x{lost:x}"
            raise ValueError(
                f"invalid Flag {enumeration.__name__!r}: {alias} {what} [use enum.show_flag_values(value) for details]"
            )


def _simple_enum(etype=enum.Enum, *, boundary=None, use_args=None):
    """A decorator that makes an enumeration of a plain class."""

    def convert(cls):
        body = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
        body.setdefault("__module__", cls.__module__)
        body["__qualname__"] = cls.__qualname__
        return enum.EnumType(cls.__name__, (etype,), body, boundary=boundary)

    return convert


def _test_simple_enum(checked_enum, simple_enum):
    a = [(name, each._value_) for name, each in checked_enum.__members__.items()]
    b = [(name, each._value_) for name, each in simple_enum.__members__.items()]
    if a != b:
        raise TypeError(f"enum mismatch:\n   {a!r}\n   {b!r}")
