#include <array>

#include "sim/lang/imports/library_code.h"

/// typing and collections.abc: forms that annotations name, classes that programs inherit from.
namespace tidemark::lang {

namespace {

constexpr std::string_view kAbstract = R"py(
class _View:
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"{type(self).__name__}({self._mapping!r})"


class KeysView(_View):
    def __iter__(self):
        return iter(self._mapping)

    def __contains__(self, key):
        return key in self._mapping

    def __and__(self, other):
        return set(self) & set(other)

    def __or__(self, other):
        return set(self) | set(other)

    def __sub__(self, other):
        return set(self) - set(other)

    def __eq__(self, other):
        return set(self) == set(other)


class ValuesView(_View):
    def __iter__(self):
        for key in self._mapping:
            yield self._mapping[key]


class ItemsView(_View):
    def __iter__(self):
        for key in self._mapping:
            yield key, self._mapping[key]


class Plain:
    pass


class Mapping:
    __is_mapping__ = True

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return KeysView(self)

    def values(self):
        return ValuesView(self)

    def items(self):
        return ItemsView(self)

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items()) if isinstance(other, (dict, Mapping)) else NotImplemented


class MutableMapping(Mapping):
    def pop(self, key, *default):
        try:
            value = self[key]
        except KeyError:
            if default:
                return default[0]
            raise
        del self[key]
        return value

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return key, value
        raise KeyError

    def clear(self):
        for key in list(self):
            del self[key]

    def update(self, other=(), /, **kwds):
        for key, value in dict(other, **kwds).items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default


class UserDict(MutableMapping):
    def __init__(self, dict=None, /, **kwargs):
        self.data = {}
        if dict is not None:
            self.update(dict)
        self.update(kwargs)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, key):
        if key not in self.data and hasattr(type(self), "__missing__"):
            return type(self).__missing__(self, key)
        return self.data[key]

    def __setitem__(self, key, item):
        self.data[key] = item

    def __delitem__(self, key):
        del self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __contains__(self, key):
        return key in self.data

    def __repr__(self):
        return repr(self.data)

    def copy(self):
        return type(self)(self.data)


class ChainMap(MutableMapping):
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for mapping in self.maps:
            if key in mapping:
                return mapping[key]
        raise KeyError(key)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        del self.maps[0][key]

    def __contains__(self, key):
        return any([key in mapping for mapping in self.maps])

    def __iter__(self):
        found = {}
        for mapping in reversed(self.maps):
            found.update(dict.fromkeys(mapping))
        return iter(found)

    def __len__(self):
        return len(list(iter(self)))

    def __repr__(self):
        return "ChainMap(" + ", ".join([repr(m) for m in self.maps]) + ")"

    def new_child(self, m=None):
        return ChainMap({} if m is None else m, *self.maps)

    @property
    def parents(self):
        return ChainMap(*self.maps[1:])


class Sequence:
    __is_sequence__ = True

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]

    def __contains__(self, value):
        return any([v is value or v == value for v in self])

    def __reversed__(self):
        for i in reversed(range(len(self))):
            yield self[i]

    def index(self, value):
        for i, v in enumerate(self):
            if v is value or v == value:
                return i
        raise ValueError

    def count(self, value):
        return sum([1 for v in self if v is value or v == value])


class MutableSequence(Sequence):
    def append(self, value):
        self.insert(len(self), value)

    def extend(self, values):
        for v in values:
            self.append(v)

    def pop(self, index=-1):
        v = self[index]
        del self[index]
        return v

    def remove(self, value):
        del self[self.index(value)]

    def clear(self):
        while len(self):
            self.pop()

    def __iadd__(self, values):
        self.extend(values)
        return self


class Iterator:
    def __iter__(self):
        return self


class ProtocolType(type):
    """isinstance() looks for the members; only a class that names Protocol among its bases is one"""

    def __instancecheck__(cls, obj):
        if Protocol not in cls.__bases__:
            return False
        if not getattr(cls, "_is_runtime_protocol", False):
            raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
        return all([hasattr(obj, name) for name in _members(cls)])


def _members(cls):
    import _tidemark

    out = []
    for base in cls.__mro__:
        if Protocol in base.__bases__:
            out += [name for name in _tidemark.own_attributes(base) if name not in _none_of_them]
            out += list(_tidemark.annotations(base))
    return out


_none_of_them = ("__module__", "__doc__", "__annotations__", "__init__", "__qualname__", "__slots__", "_is_runtime_protocol", "__init_subclass__")


class Generic:
    def __class_getitem__(cls, item):
        return cls


class Protocol(metaclass=ProtocolType):
    def __class_getitem__(cls, item):
        return cls


class TypedDict(dict):
    def __init_subclass__(cls, total=True):
        pass

    def __new__(cls, *args, **kwargs):
        return dict(*args, **kwargs)
)py";

constexpr std::string_view kTyping = R"py(
from _abstract import Generic, ItemsView, KeysView, Protocol, ValuesView
import _abstract


class _Form:
    def __init__(self, name, origin=None, args=()):
        self._name, self.__origin__, self.__args__ = name, origin, args

    def __getitem__(self, item):
        return _Form(self._name, self, item if isinstance(item, tuple) else (item,))

    def __call__(self, *args, **kwargs):
        kind = _classes.get(self._name)
        return kind(*args, **kwargs) if kind in (list, dict, tuple, set, frozenset) else self

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __repr__(self):
        return "typing." + self._name

    def __mro_entries__(self, bases):
        if self._name in _bases:
            return _bases[self._name]
        if self._name in ("OrderedDict", "DefaultDict", "Counter", "Deque"):
            import collections

            return (getattr(collections, {"DefaultDict": "defaultdict", "Deque": "deque"}.get(self._name, self._name)),)
        raise TypeError(f"Cannot subclass {self!r}")

    def __instancecheck__(self, obj):
        if self._name in ("Iterable", "Iterator", "Generator", "Collection", "Sized", "Hashable", "Container", "Reversible"):
            attribute = {"Iterator": "__next__", "Generator": "send", "Sized": "__len__", "Hashable": "__hash__",
                         "Container": "__contains__"}.get(self._name, "__iter__")
            return isinstance(obj, (list, tuple, dict, set, frozenset, str, range)) and attribute in ("__iter__", "__len__", "__contains__") or hasattr(obj, attribute)
        if self._name == "Callable":
            return callable(obj)
        if self._name in ("Union", "Optional") and self.__args__:
            return isinstance(obj, self.__args__) or self._name == "Optional" and obj is None
        if self._name not in _classes:
            raise TypeError(f"{self!r} cannot be used with isinstance()")
        return isinstance(obj, _classes[self._name])


_classes = {"List": list, "Dict": dict, "Tuple": tuple, "Set": (set, frozenset), "FrozenSet": frozenset, "Type": type,
            "Sequence": (list, tuple, str, range, _abstract.Sequence), "MutableSequence": (list, _abstract.MutableSequence),
            "Mapping": (dict, _abstract.Mapping), "MutableMapping": (dict, _abstract.MutableMapping), "Text": str,
            "AbstractSet": (set, frozenset), "MutableSet": set}
_bases = {"List": (list,), "Dict": (dict,), "Tuple": (tuple,), "Set": (set,), "FrozenSet": (frozenset,), "Type": (type,),
          "Mapping": (_abstract.Mapping,), "MutableMapping": (_abstract.MutableMapping,), "Sequence": (_abstract.Sequence,),
          "MutableSequence": (_abstract.MutableSequence,), "Iterator": (_abstract.Iterator,), "Generator": (_abstract.Iterator,),
          "Any": (), "Generic": (Generic,)}
for _name in ("Iterable", "Collection", "Sized", "Hashable", "Container", "Reversible", "Callable", "Awaitable", "ContextManager"):
    _bases[_name] = (_abstract.Plain,)

Any, Union, Optional, Callable, ClassVar, Final, Literal = [_Form(n) for n in ("Any", "Union", "Optional", "Callable", "ClassVar", "Final", "Literal")]
List, Dict, Tuple, Set, FrozenSet, Type = [_Form(n) for n in ("List", "Dict", "Tuple", "Set", "FrozenSet", "Type")]
Iterable, Iterator, Sequence, MutableSequence, Mapping, MutableMapping, Generator = [_Form(n) for n in ("Iterable", "Iterator", "Sequence", "MutableSequence", "Mapping", "MutableMapping", "Generator")]
Annotated, Self, NoReturn, Hashable, Collection, Sized, Text = [_Form(n) for n in ("Annotated", "Self", "NoReturn", "Hashable", "Collection", "Sized", "Text")]
Deque, DefaultDict, OrderedDict, Counter, ChainMap, AbstractSet, MutableSet = [_Form(n) for n in ("Deque", "DefaultDict", "OrderedDict", "Counter", "ChainMap", "AbstractSet", "MutableSet")]
Container, Reversible, Awaitable, Coroutine, AsyncIterator, AsyncIterable, AsyncGenerator = [_Form(n) for n in ("Container", "Reversible", "Awaitable", "Coroutine", "AsyncIterator", "AsyncIterable", "AsyncGenerator")]
TypeAlias, TypeGuard, TypeIs, Never, LiteralString, Concatenate, Required = [_Form(n) for n in ("TypeAlias", "TypeGuard", "TypeIs", "Never", "LiteralString", "Concatenate", "Required")]
NotRequired, ReadOnly, Unpack, ByteString, IO, TextIO, BinaryIO = [_Form(n) for n in ("NotRequired", "ReadOnly", "Unpack", "ByteString", "IO", "TextIO", "BinaryIO")]
Pattern, Match, AnyStr, ContextManager, SupportsFloat, SupportsInt, SupportsIndex = [_Form(n) for n in ("Pattern", "Match", "AnyStr", "ContextManager", "SupportsFloat", "SupportsInt", "SupportsIndex")]
AsyncContextManager, SupportsAbs, SupportsRound, SupportsBytes, MappingView = [_Form(n) for n in ("AsyncContextManager", "SupportsAbs", "SupportsRound", "SupportsBytes", "MappingView")]
TYPE_CHECKING = False


def TypeVar(name, *constraints, **options):
    return _Form(name)


ParamSpec = TypeVarTuple = ForwardRef = TypeVar


def NewType(name, tp):
    def convert(value):
        return value

    convert.__name__ = name
    return convert


def get_origin(tp):
    origin = getattr(tp, "__origin__", None)
    return None if origin is None else _classes.get(origin._name, origin)


def get_args(tp):
    return getattr(tp, "__args__", ())


def cast(typ, val):
    return val


def overload(func):
    return func


final = no_type_check = override = type_check_only = overload


def runtime_checkable(cls):
    cls._is_runtime_protocol = True
    return cls


def dataclass_transform(**options):
    return lambda cls: cls


def assert_type(val, typ):
    return val


def assert_never(arg):
    raise AssertionError(f"Expected code to be unreachable, but got: {arg!r}")


class _NamedTuple:
    __makes_named_tuples__ = True

    def __call__(self, typename, fields=()):
        import _tidemark

        return _tidemark.named_tuple(typename, [name for name, kind in fields])


NamedTuple = _NamedTuple()


class _TypedDict:
    def __mro_entries__(self, bases):
        return (_abstract.TypedDict,)

    def __call__(self, typename, fields=(), *, total=True):
        return dict


TypedDict = _TypedDict()
)py";

constexpr std::array kFiles = std::to_array<LibraryFile>({
    {"_abstract", kAbstract},
    {"collections.abc", kTyping},
    {"typing", kTyping},
    {"typing_extensions", kTyping},
});

}  // namespace

std::span<const LibraryFile> library_typing_files() { return kFiles; }

}  // namespace tidemark::lang
