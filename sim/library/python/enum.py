import _tidemark

_function = type(lambda: None)
_plain_types = (str, int, float, tuple, list, dict)


class auto:
    value = None


class member:
    def __init__(self, value):
        self.value = value


class nonmember:
    def __init__(self, value):
        self.value = value


def _is_member(cls_name, name, value):
    if name.startswith("__") and name.endswith("__") or name.startswith("_") and name.endswith("_"):
        return False
    if name.startswith("_" + cls_name + "__") or isinstance(value, nonmember):
        return False
    return not isinstance(value, (_function, property, staticmethod, classmethod)) and not hasattr(
        type(value), "__get__"
    )


def _plain_type(cls):
    for base in cls.__mro__:
        if base in _plain_types:
            return base
    return None


def _values_of(kind, value):
    if kind is tuple:
        return (value,)
    return value if isinstance(value, tuple) else (value,)


class EnumType(type):
    def __new__(metacls, name, bases, namespace, *, boundary=None, **kwds):
        for base in bases:
            if isinstance(base, EnumType) and base._member_map_:
                raise TypeError(f"<enum '{name}'> cannot extend {base!r}")
        wanted, ignored = [], namespace.get("_ignore_", ())
        if isinstance(ignored, str):
            ignored = ignored.replace(",", " ").split()
        for key, value in namespace.items():
            if key not in ignored and _is_member(name, key, value):
                wanted.append((key, value.value if isinstance(value, member) else value))
        taken = {key for key, value in wanted}
        names = {key: value for key, value in namespace.items() if key not in taken}
        names["_member_map_"] = members = {}
        names["_member_names_"] = order = []
        for key, value in list(names.items()):
            if isinstance(value, nonmember):
                names[key] = value.value
        cls = super().__new__(metacls, name, bases, names, **kwds)
        kind = _plain_type(cls)
        if kind is not None:
            for method in ("__repr__", "__str__", "__format__"):
                for base in cls.__mro__:
                    own = NotImplemented if base in _plain_types else _tidemark.own_attribute(base, method)
                    if own is not NotImplemented:
                        _tidemark.set_method(cls, method, own)
                        break
        last = []
        for key, value in wanted:
            if isinstance(value, auto):
                value = cls._generate_next_value_(key, 1, len(last), last[:])
            args = _values_of(kind, value)
            made = cls.__new__(cls, *args)
            if not hasattr(made, "_value_"):
                made._value_ = value if kind is None else kind(*args)
            value = made._value_
            made._name_ = key
            made._sort_order_ = len(order)
            made.__init__(*args)
            last.append(value)
            for other in members.values():
                if other._value_ == value:
                    made = other
                    break
            else:
                order.append(key)
            members[key] = made
            _tidemark.set_method(cls, key, made)
        return cls

    def __call__(cls, value, names=None, *, module=None, qualname=None, type=None, start=1, boundary=None):
        if names is None:
            return _find(cls, value)
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        if isinstance(names, dict):
            names = list(names.items())
        body, last = {}, []
        for key in names:
            if isinstance(key, str):
                body[key] = cls._generate_next_value_(key, start, len(last), last[:])
            else:
                body[key[0]] = key[1]
            last.append(list(body.values())[-1])
        return EnumType(value, (cls,) if type is None else (type, cls), body)

    def __iter__(cls):
        return iter([cls._member_map_[name] for name in cls._member_names_])

    def __reversed__(cls):
        return iter([cls._member_map_[name] for name in cls._member_names_[::-1]])

    def __len__(cls):
        return len(cls._member_names_)

    def __bool__(cls):
        return True

    def __contains__(cls, value):
        if isinstance(value, cls):
            return value._name_ in cls._member_map_ or isinstance(value, Flag)
        for other in cls._member_map_.values():
            if other._value_ == value:
                return True
        return False

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __setattr__(cls, name, value):
        if name in cls._member_map_:
            raise AttributeError(f"cannot reassign member '{name}'")
        _tidemark.set_method(cls, name, value)

    def __repr__(cls):
        return f"<enum '{cls.__name__}'>"

    @property
    def __members__(cls):
        return dict(cls._member_map_)


EnumMeta = EnumType


def _find(cls, value):
    if type(value) is cls:
        return value
    for other in cls._member_map_.values():
        if other._value_ == value:
            return other
    found = cls._missing_(value)
    if isinstance(found, cls):
        return found
    if found is None:
        raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")
    raise TypeError(f"error in {cls.__name__}._missing_: returned {found!r} instead of None or a valid member")


class Enum(metaclass=EnumType):
    def __init__(self, *args, **kwds):
        pass

    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    def _generate_next_value_(name, start, count, last_values):
        numbers = [value for value in last_values if isinstance(value, (int, float))]
        return max(numbers) + 1 if numbers else start

    @classmethod
    def _missing_(cls, value):
        return None

    def __repr__(self):
        return f"<{type(self).__name__}.{self._name_}: {self._value_!r}>"

    def __str__(self):
        return f"{type(self).__name__}.{self._name_}"

    def __format__(self, spec):
        return format(str(self), spec)

    def __hash__(self):
        return hash(self._name_)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class ReprEnum(Enum):
    pass


class IntEnum(int, ReprEnum):
    def __str__(self):
        return repr(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec)


class StrEnum(str, ReprEnum):
    def _generate_next_value_(name, start, count, last_values):
        return name.lower()

    def __str__(self):
        return self._value_

    def __format__(self, spec):
        return format(self._value_, spec)


class Flag(Enum):
    def _generate_next_value_(name, start, count, last_values):
        highest = max(last_values, default=0)
        return 2 ** highest.bit_length() if highest else start

    @classmethod
    def _missing_(cls, value):
        known = 0
        for each in cls:
            known |= each._value_
        if not isinstance(value, int):
            return None
        if value < 0:
            value = known & value
        if value & ~known:
            raise ValueError(f"{cls!r} invalid value {value!r}")
        kind = _plain_type(cls)
        made = object.__new__(cls) if kind is None else kind.__new__(cls, value)
        made._value_ = value
        made._name_ = "|".join([each._name_ for each in cls if each._value_ & value]) or None
        return made

    def __eq__(self, other):
        return self._value_ == other._value_ if type(other) is type(self) else NotImplemented

    def __hash__(self):
        return hash(self._value_)

    def __repr__(self):
        name = type(self).__name__
        return f"<{name}: 0>" if self._name_ is None else f"<{name}.{self._name_}: {self._value_!r}>"

    def __str__(self):
        name = type(self).__name__
        return f"{name}(0)" if self._name_ is None else f"{name}.{self._name_}"

    def __contains__(self, other):
        return other._value_ & self._value_ == other._value_

    def __iter__(self):
        return iter([each for each in type(self) if each._value_ & self._value_])

    def __len__(self):
        return len(list(iter(self)))

    def __bool__(self):
        return self._value_ != 0

    def __or__(self, other):
        return type(self)(self._value_ | _bits(other))

    def __and__(self, other):
        return type(self)(self._value_ & _bits(other))

    def __xor__(self, other):
        return type(self)(self._value_ ^ _bits(other))

    def __invert__(self):
        return type(self)(~self._value_)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__


class IntFlag(int, ReprEnum, Flag):
    def __eq__(self, other):
        return self._value_ == _bits(other)

    def __hash__(self):
        return hash(self._value_)

    def __str__(self):
        return repr(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec)


def _bits(other):
    return other._value_ if isinstance(other, Flag) else other


def unique(enumeration):
    doubled = [f"{name} -> {each._name_}" for name, each in enumeration.__members__.items() if name != each._name_]
    if doubled:
        raise ValueError(f"duplicate values found in {enumeration!r}: {', '.join(doubled)}")
    return enumeration
