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
        if self._name in (
            "Iterable",
            "Iterator",
            "Generator",
            "Collection",
            "Sized",
            "Hashable",
            "Container",
            "Reversible",
        ):
            attribute = {"Iterator": "__next__", "Generator": "send", "Sized": "__len__", "Hashable": "__hash__",
                         "Container": "__contains__"}.get(self._name, "__iter__")
            return (
                isinstance(obj, (list, tuple, dict, set, frozenset, str, range))
                and attribute in ("__iter__", "__len__", "__contains__")
                or hasattr(obj, attribute)
            )
        if self._name == "Callable":
            return callable(obj)
        if self._name in ("Union", "Optional") and self.__args__:
            return isinstance(obj, self.__args__) or self._name == "Optional" and obj is None
        if self._name not in _classes:
            raise TypeError(f"{self!r} cannot be used with isinstance()")
        return isinstance(obj, _classes[self._name])


_classes = {
    "List": list,
    "Dict": dict,
    "Tuple": tuple,
    "Set": (set, frozenset),
    "FrozenSet": frozenset,
    "Type": type,
    "Sequence": (list, tuple, str, range, _abstract.Sequence),
    "MutableSequence": (list, _abstract.MutableSequence),
    "Mapping": (dict, _abstract.Mapping),
    "MutableMapping": (dict, _abstract.MutableMapping),
    "Text": str,
    "AbstractSet": (set, frozenset),
    "MutableSet": set,
}
_bases = {
    "List": (list,),
    "Dict": (dict,),
    "Tuple": (tuple,),
    "Set": (set,),
    "FrozenSet": (frozenset,),
    "Type": (type,),
    "Mapping": (_abstract.Mapping,),
    "MutableMapping": (_abstract.MutableMapping,),
    "Sequence": (_abstract.Sequence,),
    "MutableSequence": (_abstract.MutableSequence,),
    "MutableSet": (_abstract.MutableSet,),
    "AbstractSet": (_abstract.Set,),
    "Iterator": (_abstract.Iterator,),
    "Generator": (_abstract.Iterator,),
    "Any": (),
    "Generic": (Generic,),
}
for _name in (
    "Iterable",
    "Collection",
    "Sized",
    "Hashable",
    "Container",
    "Reversible",
    "Callable",
    "Awaitable",
    "Coroutine",
    "AsyncIterator",
    "AsyncIterable",
    "AsyncGenerator",
    "ContextManager",
    "AsyncContextManager",
    "SupportsFloat",
    "SupportsInt",
    "SupportsIndex",
    "SupportsAbs",
    "SupportsRound",
    "SupportsBytes",
    "ByteString",
    "MappingView",
    "IO",
    "TextIO",
    "BinaryIO",
):
    _bases[_name] = (_abstract.Plain,)

Any, Union, Optional, Callable, ClassVar, Final, Literal = [
    _Form(n) for n in ("Any", "Union", "Optional", "Callable", "ClassVar", "Final", "Literal")
]
List, Dict, Tuple, Set, FrozenSet, Type = [_Form(n) for n in ("List", "Dict", "Tuple", "Set", "FrozenSet", "Type")]
Iterable, Iterator, Sequence, MutableSequence, Mapping, MutableMapping, Generator = [
    _Form(n) for n in ("Iterable", "Iterator", "Sequence", "MutableSequence", "Mapping", "MutableMapping", "Generator")
]
Annotated, Self, NoReturn, Hashable, Collection, Sized, Text = [
    _Form(n) for n in ("Annotated", "Self", "NoReturn", "Hashable", "Collection", "Sized", "Text")
]
Deque, DefaultDict, OrderedDict, Counter, ChainMap, AbstractSet, MutableSet = [
    _Form(n) for n in ("Deque", "DefaultDict", "OrderedDict", "Counter", "ChainMap", "AbstractSet", "MutableSet")
]
Container, Reversible, Awaitable, Coroutine, AsyncIterator, AsyncIterable, AsyncGenerator = [
    _Form(n)
    for n in ("Container", "Reversible", "Awaitable", "Coroutine", "AsyncIterator", "AsyncIterable", "AsyncGenerator")
]
TypeAlias, TypeGuard, TypeIs, Never, LiteralString, Concatenate, Required = [
    _Form(n) for n in ("TypeAlias", "TypeGuard", "TypeIs", "Never", "LiteralString", "Concatenate", "Required")
]
NotRequired, ReadOnly, Unpack, ByteString, IO, TextIO, BinaryIO = [
    _Form(n) for n in ("NotRequired", "ReadOnly", "Unpack", "ByteString", "IO", "TextIO", "BinaryIO")
]
Pattern, Match, AnyStr, ContextManager, SupportsFloat, SupportsInt, SupportsIndex = [
    _Form(n) for n in ("Pattern", "Match", "AnyStr", "ContextManager", "SupportsFloat", "SupportsInt", "SupportsIndex")
]
AsyncContextManager, SupportsAbs, SupportsRound, SupportsBytes, MappingView = [
    _Form(n) for n in ("AsyncContextManager", "SupportsAbs", "SupportsRound", "SupportsBytes", "MappingView")
]
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


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    import _tidemark

    owners = obj.__mro__[::-1] if isinstance(obj, type) else [obj]
    out = {}
    for owner in owners:
        for name, kind in (_tidemark.annotations(owner) if isinstance(owner, type) else owner.__annotations__).items():
            out[name] = _tidemark.evaluate_in(owner, kind) if isinstance(kind, str) else kind
    return out


def is_typeddict(tp):
    return isinstance(tp, type) and issubclass(tp, _abstract.TypedDict)


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
