import _tidemark
import _enum_flags
import _enum_members
import builtins
import warnings
from _enum_checks import CONTINUOUS, NAMED_FLAGS, UNIQUE, EnumCheck, _simple_enum, _test_simple_enum, unique, verify
from _enum_members import is_descriptor as _is_descriptor, is_dunder as _is_dunder, is_private as _is_private
from _enum_globals import (
    _reduce_ex_by_global_name, global_enum, global_enum_repr, global_flag_repr, global_str, pickle_by_enum_name,
    pickle_by_global_name,
)
from _enum_members import is_sunder as _is_sunder
from _enum_flags import _iter_bits_lsb, show_flag_values
from types import DynamicClassAttribute, MappingProxyType

__all__ = [
    "EnumType", "EnumMeta", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum", "auto", "unique", "property",
    "verify", "member", "nonmember", "FlagBoundary", "STRICT", "CONFORM", "EJECT", "KEEP", "global_flag_repr",
    "global_enum_repr", "global_str", "global_enum", "EnumCheck", "CONTINUOUS", "NAMED_FLAGS", "UNIQUE",
    "pickle_by_global_name", "pickle_by_enum_name",
]

_AUTO = "In 3.13 the default `auto()`/`_generate_next_value_` will "


class _Deferred:
    """What is done with an auto() in a class's body: done once its value is known."""

    def __init__(self, name, operands):
        self.name, self.operands = name, operands

    def __or__(self, other):
        return _Deferred("__or__", (self, other))

    def __and__(self, other):
        return _Deferred("__and__", (self, other))

    def __xor__(self, other):
        return _Deferred("__xor__", (self, other))

    def __add__(self, other):
        return _Deferred("__add__", (self, other))

    def __sub__(self, other):
        return _Deferred("__sub__", (self, other))

    def __lshift__(self, other):
        return _Deferred("__lshift__", (self, other))

    def __invert__(self):
        return _Deferred("__invert__", (self,))

    def __neg__(self):
        return _Deferred("__neg__", (self,))

    def __ror__(self, other):
        return _Deferred("__or__", (other, self))

    def __radd__(self, other):
        return _Deferred("__add__", (other, self))


class auto(_Deferred):
    def __init__(self, value=None):
        self.value = value

    def __repr__(self):
        return f"auto({self.value!r})"


class member:
    def __init__(self, value):
        self.value = value


class nonmember:
    def __init__(self, value):
        self.value = value


class property(DynamicClassAttribute):
    """an attribute of members, whose name a member may have too"""

    member = None

    def __set_name__(self, owner, name):
        self.name, self.clsname = name, owner.__name__

    def __get__(self, instance, ownerclass=None):
        if instance is not None:
            return super().__get__(instance, ownerclass)
        if self.member is not None:
            return self.member
        found = ownerclass._member_map_.get(self.name)
        if found is None:
            raise AttributeError(f"{ownerclass!r} has no attribute {self.name!r}")
        return found


def _plain_value(value):
    if isinstance(value, auto):
        return value.value
    if isinstance(value, _Deferred):
        first, *others = [_plain_value(each) for each in value.operands]
        return getattr(first, value.name)(*others)
    return value


class EnumType(type):
    def __new__(metacls, name, bases, namespace, *, boundary=None, _simple=False, **kwds):
        if not bases or _simple:
            return super().__new__(metacls, name, bases, namespace, **kwds)
        _enum_members.check_bases(name, bases)
        wanted, ignored = _enum_members.wanted_members(name, namespace)
        taken = {key for key, value in wanted}
        names = {key: value for key, value in namespace.items() if key not in taken and key not in ignored}
        order = names.pop("_order_", None)
        names["_member_map_"], names["_member_names_"], names["_value2member_map_"] = {}, [], {}
        for key, value in list(names.items()):
            if isinstance(value, nonmember):
                names[key] = value.value
        kind = names["_member_type_"] = _enum_members.member_type(name, bases)
        shown = names["_value_repr_"] = _enum_members.value_repr(bases, kind)
        above = [base for base in bases if isinstance(base, EnumType)][-1] if bases else None
        names["_boundary_"] = boundary or getattr(above, "_boundary_", None)
        own_new = names.get("__new__") or _inherited_new(bases)
        names["_use_args_"] = own_new is not None or kind is not object
        generate = names.get("_generate_next_value_")
        if generate is not None and not isinstance(generate, staticmethod):
            names["_generate_next_value_"] = staticmethod(generate)
        names.pop("__new__", None)
        cls = super().__new__(metacls, name, bases, names, **kwds)
        _take_methods(cls, kind, names, bases)
        _tidemark.set_method(cls, "_new_member_", kind.__new__ if own_new is None else own_new)
        _tidemark.set_method(cls, "_own_new", own_new)
        _make_members(cls, wanted, own_new, kind)
        _check_order(cls, order)
        return cls

    def __init__(cls, *args, **kwds):
        pass

    def __call__(cls, value, names=None, *, module=None, qualname=None, type=None, start=1, boundary=None):
        if names is None:
            return _find(cls, value)
        return cls._create_(value, names, module=module, qualname=qualname, type=type, start=start, boundary=boundary)

    def _create_(cls, class_name, names, *, module=None, qualname=None, type=None, start=1, boundary=None):
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        elif isinstance(names, dict) or hasattr(names, "items"):
            names = list(names.items())
        body, last = {}, []
        for key in names:
            if isinstance(key, str):
                body[key] = value = cls._generate_next_value_(key, start, len(last), last[:])
            else:
                body[key[0]] = value = key[1]
            last.append(value)
        caller = _tidemark.frame(3)
        body["__module__"] = module or (None if caller is None else caller.f_globals.get("__name__")) or __name__
        if qualname is not None:
            body["__qualname__"] = qualname
        return cls.__class__(class_name, (cls,) if type is None else (type, cls), body, boundary=boundary)

    def _convert_(cls, name, module, filter, source=None, *, boundary=None, as_global=False):
        """Numbers that a module names, as an enumeration that the module has instead."""
        globals = _tidemark.modules()[module].__dict__
        taken = globals if source is None else source.__dict__
        members = [(key, taken[key]) for key in list(taken) if filter(key)]
        try:
            members.sort(key=lambda pair: (pair[1], pair[0]))
        except TypeError:
            members.sort(key=lambda pair: pair[0])
        made = cls._create_(name, members, module=module, boundary=boundary or KEEP)
        made.__reduce_ex__ = _reduce_ex_by_global_name
        if as_global:
            global_enum(made)
        else:
            globals.update(made.__members__)
        globals[name] = made
        return made

    def __iter__(cls):
        return iter([cls._member_map_[name] for name in cls._member_names_])

    def __reversed__(cls):
        return iter([cls._member_map_[name] for name in cls._member_names_[::-1]])

    def __len__(cls):
        return len(cls._member_names_)

    def __bool__(cls):
        return True

    def __contains__(cls, value):
        if not isinstance(value, Enum):
            # Python 3.11 refuses it; from 3.12 on it asks for a member of that value.
            return value in cls._value2member_map_ or any([each._value_ == value for each in cls._member_map_.values()])
        return isinstance(value, cls) and (value._name_ in cls._member_map_ or isinstance(value, Flag))

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __setattr__(cls, name, value):
        if name in cls.__dict__.get("_member_map_", {}):
            raise AttributeError(f"cannot reassign member {name!r}")
        _tidemark.set_method(cls, name, value)

    def __delattr__(cls, name):
        if name in cls._member_map_:
            raise AttributeError(f"{cls.__name__!r} cannot delete member {name!r}.")
        super().__delattr__(name)

    def __dir__(cls):
        own = ["__class__", "__contains__", "__doc__", "__getitem__", "__init_subclass__", "__iter__", "__len__",
               "__members__", "__module__", "__name__", "__qualname__"]
        return sorted(own + cls._member_names_)

    def __repr__(cls):
        return f"<{'flag' if hasattr(cls, '_flag_mask_') else 'enum'} {cls.__name__!r}>"

    @builtins.property
    def __members__(cls):
        return MappingProxyType(cls._member_map_)


EnumMeta = EnumType


def _inherited_new(bases):
    """What makes the members where a class above says so; None where their type does."""
    for chain in bases:
        for base in chain.__mro__:
            if isinstance(base, EnumType):
                if base._own_new is not None:
                    return base._own_new
            elif "__new__" in base.__dict__ and base not in _enum_members.plain_types and base is not object:
                return base.__dict__["__new__"]
    return None


def _take_methods(cls, kind, names, bases):
    """An enumeration keeps its own way of being shown, unless a class beside it has another."""
    if kind is not object and ReprEnum in bases:
        for method in ("__format__", "__str__"):
            if method not in names:
                _tidemark.set_method(cls, method, ReprEnum.__dict__[method])
    for method in ("__repr__", "__str__", "__format__", "__reduce_ex__"):
        if method not in names and method not in cls.__dict__:
            found = getattr(cls, method)
            if found is getattr(kind, method) or found is getattr(object, method):
                _tidemark.set_method(cls, method, getattr(bases[-1], method))


def _make_members(cls, wanted, own_new, kind):
    last, is_flag = [], hasattr(cls, "_flag_mask_")
    for key, value in wanted:
        value = _resolved(cls, key, value, last)
        args = value if isinstance(value, tuple) else (value,)
        if kind is tuple:
            args = (value,)
        if own_new is not None:
            made = own_new(cls, *args)
        elif kind is object:
            made = object.__new__(cls)
        else:
            made = kind.__new__(cls, *args)
        if not hasattr(made, "_value_"):
            if kind is object:
                made._value_ = value
            else:
                try:
                    made._value_ = kind(*args)
                except Exception as error:
                    raise TypeError("_value_ not set in __new__, unable to create it") from None
        value = made._value_
        made._name_, made._sort_order_ = key, len(cls._member_names_)
        made.__objclass__ = cls
        made.__init__(*args)
        _add_member(cls, key, made, is_flag)
    if is_flag:
        flags, singles, bits = _enum_flags.take_masks(cls)
        for name, value in (("_flag_mask_", flags), ("_singles_mask_", singles), ("_all_bits_", bits)):
            _tidemark.set_method(cls, name, value)
        numbers = [cls._member_map_[name]._value_ for name in cls._member_names_]
        if numbers != sorted(numbers):
            _tidemark.set_method(cls, "_iter_member_", cls._iter_member_by_def_)


def _resolved(cls, key, value, last):
    """The member's value, with every auto() in it; `last` has the values before it."""
    if isinstance(value, auto):
        if value.value is None:
            value.value = cls._generate_next_value_(key, 1, len(cls._member_names_), last[:])
        last.append(value.value)
        return value.value
    if isinstance(value, _Deferred):
        value = _plain_value(value)
    elif isinstance(value, tuple) and any([isinstance(each, auto) for each in value]):
        made = [_resolved(cls, key, each, last) if isinstance(each, auto) else each for each in value]
        return tuple(made) if type(value) is tuple else type(value)(*made)
    last.append(value)
    return value


def _add_member(cls, key, made, is_flag):
    value, known = made._value_, None
    has_hash = type(value).__hash__ is not None  # where it is None, asking would raise
    try:
        known = cls._value2member_map_.get(value) if has_hash else _equal_member(cls, value)
    except TypeError:
        known, has_hash = _equal_member(cls, value), False
    if known is not None:
        made = known
    elif not is_flag or not isinstance(value, int) or value > 0 and value & (value - 1) == 0:
        cls._member_names_.append(key)
    cls._member_map_[key] = made
    above = _tidemark.inherited_attribute(cls, key)
    if isinstance(above, builtins.property):
        redirect = property(lambda self: above.__get__(self, cls))
        redirect.member, redirect.name = made, key
        _tidemark.set_method(cls, key, redirect)
    else:
        _tidemark.set_method(cls, key, made)
    if has_hash:
        cls._value2member_map_.setdefault(value, made)


def _equal_member(cls, value):
    return next((each for each in cls._member_map_.values() if each._value_ == value), None)


def _check_order(cls, order):
    if order is None:
        return
    if isinstance(order, str):
        order = order.replace(",", " ").split()
    aliases = [name for name, each in cls._member_map_.items() if name != each._name_]
    if hasattr(cls, "_flag_mask_"):
        aliases += [name for name in cls._member_map_ if name not in cls._member_names_]
    order = [name for name in order if name not in aliases or name in cls._member_names_]
    if order != cls._member_names_:
        raise TypeError(f"member order does not match _order_:\n  {cls._member_names_!r}\n  {order!r}")


def _find(cls, value):
    if type(value) is cls:
        return value
    try:
        return cls._value2member_map_[value]
    except KeyError:
        pass
    except TypeError:
        for other in cls._member_map_.values():
            if other._value_ == value:
                return other
    wrong = ValueError(f"{value!r} is not a valid {cls.__qualname__}")
    try:
        found = cls._missing_(value)
    except Exception as error:
        if not isinstance(error, ValueError):
            error.__context__ = wrong
        raise
    if isinstance(found, cls) or hasattr(cls, "_flag_mask_") and cls._boundary_ is EJECT and isinstance(found, int):
        return found
    if found is None:
        raise wrong
    raise TypeError(f"error in {cls.__name__}._missing_: returned {found!r} instead of None or a valid member")


class Enum(metaclass=EnumType):
    _member_map_, _member_names_, _value2member_map_ = {}, [], {}
    _member_type_, _value_repr_, _boundary_, _use_args_, _own_new = object, None, None, False, None

    def __init__(self, *args, **kwds):
        pass

    @builtins.property
    def name(self):
        return self._name_

    @builtins.property
    def value(self):
        return self._value_

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start
        try:
            if max(last_values) == last_values[-1]:
                return last_values[-1] + 1
        except TypeError:
            warnings.warn(_AUTO + "require all values to be sortable and support adding +1\nand the value returned "
                          "will be the largest value in the enum incremented by 1", DeprecationWarning, stacklevel=3)
        else:
            warnings.warn(_AUTO + "return the largest value incremented by 1", DeprecationWarning, stacklevel=3)
        for value in reversed(last_values):
            try:
                return value + 1
            except TypeError:
                pass
        return start

    @classmethod
    def _missing_(cls, value):
        return None

    def __repr__(self):
        shown = self.__class__._value_repr_ or repr
        return f"<{self.__class__.__name__}.{self._name_}: {shown(self._value_)}>"

    def __str__(self):
        return f"{self.__class__.__name__}.{self._name_}"

    def __dir__(self):
        own = {"__class__", "__doc__", "__eq__", "__hash__", "__module__", "name", "value"}
        for cls in self.__class__.__mro__:
            for name in cls.__dict__:
                if name[0] != "_" and name not in self._member_map_:
                    own.add(name)
        return sorted(own.union([name for name in self.__dict__ if name[0] != "_"]))

    def __format__(self, spec):
        return str.__format__(str(self), spec)

    def __hash__(self):
        return hash(self._name_)

    def __reduce_ex__(self, proto):
        return self.__class__, (self._value_,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class ReprEnum(Enum):
    def __str__(self):
        kind = self._member_type_
        method = kind.__str__
        return (kind.__repr__ if method is object.__str__ else method)(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec) if spec else str(self)


class IntEnum(int, ReprEnum):
    def __str__(self):
        return repr(self._value_)


class StrEnum(str, ReprEnum):
    def __new__(cls, *values):
        if len(values) > 3:
            raise TypeError(f"too many arguments for str(): {values!r}")
        for place, value, what in zip(range(3), values, ("", "encoding must be", "errors must be")):
            if not isinstance(value, str) and (place or len(values) == 1):
                raise TypeError(f"{value!r} is not a string" if not place else f"{what} a string, not {value!r}")
        made = str.__new__(cls, str(*values))
        made._value_ = str(*values)
        return made

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return name.lower()

    def __str__(self):
        return self._value_


class FlagBoundary(StrEnum):
    STRICT = auto()
    CONFORM = auto()
    EJECT = auto()
    KEEP = auto()


STRICT, CONFORM, EJECT, KEEP = FlagBoundary


class Flag(Enum, boundary=CONFORM):
    _numeric_repr_ = repr
    _flag_mask_ = _singles_mask_ = _all_bits_ = 0

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start if start is not None else 1
        try:
            return 2 ** max(last_values).bit_length()
        except Exception:
            raise TypeError(f"invalid flag value {max(last_values)!r}") from None

    @classmethod
    def _iter_member_by_value_(cls, value):
        for bit in _iter_bits_lsb(value & cls._flag_mask_):
            found = cls._value2member_map_.get(bit)
            if found is not None:
                yield found

    _iter_member_ = _iter_member_by_value_

    @classmethod
    def _iter_member_by_def_(cls, value):
        yield from sorted(cls._iter_member_by_value_(value), key=lambda each: each._sort_order_)

    @classmethod
    def _missing_(cls, value):
        return _enum_flags.missing(cls, value)

    def __repr__(self):
        name, shown = self.__class__.__name__, (self.__class__._value_repr_ or repr)(self._value_)
        return f"<{name}: {shown}>" if self._name_ is None else f"<{name}.{self._name_}: {shown}>"

    def __str__(self):
        name = self.__class__.__name__
        return f"{name}({self._value_!r})" if self._name_ is None else f"{name}.{self._name_}"

    def __contains__(self, other):
        if not isinstance(other, self.__class__):
            raise TypeError(
                f"unsupported operand type(s) for 'in': {type(other).__qualname__!r} and "
                f"{self.__class__.__qualname__!r}"
            )
        return other._value_ & self._value_ == other._value_

    def __iter__(self):
        yield from self._iter_member_(self._value_)

    def __len__(self):
        return self._value_.bit_count()

    def __bool__(self):
        return bool(self._value_)

    def __or__(self, other):
        bits = _bits(self, other)
        return bits if bits is NotImplemented else self.__class__(self._value_ | bits)

    def __and__(self, other):
        bits = _bits(self, other)
        return bits if bits is NotImplemented else self.__class__(self._value_ & bits)

    def __xor__(self, other):
        bits = _bits(self, other)
        return bits if bits is NotImplemented else self.__class__(self._value_ ^ bits)

    def __invert__(self):
        if self._boundary_ is KEEP or self._boundary_ is EJECT:
            return self.__class__(~self._value_)
        return self.__class__(self._singles_mask_ & ~self._value_)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__


def _bits(flag, other):
    if isinstance(other, flag.__class__):
        return other._value_
    kind = flag._member_type_
    return other if kind is not object and isinstance(other, kind) else NotImplemented


class IntFlag(int, ReprEnum, Flag, boundary=KEEP):
    def __str__(self):
        return repr(self._value_)
