from _abstract import Generic, ItemsView, KeysView, Protocol, ValuesView
import _abstract


class _Form:
    """a special form, a container under its name for types, or either with [...]"""

    def __init__(self, name, form=None, args=()):
        self._name, self._form, self._given = name, form, args
        if form is not None:
            self.__args__ = args
            self.__origin__ = _origins[name] if name in _origins else form
            self.__parameters__ = tuple([a for a in args if isinstance(a, TypeVar)])
        elif name in _origins:
            self.__origin__ = _origins[name]
        self.__name__ = name

    def __getitem__(self, item):
        if self._name in ("Union", "Optional"):
            items = tuple([_as_type(each) for each in (item if isinstance(item, tuple) else (item,))])
            return _union(items + (None,) if self._name == "Optional" else items)
        args = item if isinstance(item, tuple) else (item,)
        if self._name == "Callable" and isinstance(args[0], list):
            args = (*args[0], *args[1:])
        if self._name == "Annotated":
            args = (_as_type(args[0]), *args[1:])
        elif self._name != "Literal":
            args = tuple([_as_type(each) for each in args])
        made = _Form(self._name, self, args)
        if self._name == "Annotated":
            made.__origin__, made.__metadata__, made.__args__ = args[0], args[1:], args[:1]
        return made

    def __call__(self, *args, **kwargs):
        kind = _classes.get(self._name)
        return kind(*args, **kwargs) if kind in (list, dict, tuple, set, frozenset) else self

    def __or__(self, other):
        return _union((self, other))

    def __ror__(self, other):
        return _union((other, self))

    def __eq__(self, other):
        return isinstance(other, _Form) and self._name == other._name and self._given == other._given

    def __hash__(self):
        return hash((self._name, self._given))

    def __repr__(self):
        if self._form is None:
            return "typing." + self._name
        texts = [repr(a) if self._name == "Literal" else _text_of(a) for a in self._given]
        if self._name == "Annotated":
            texts[1:] = [repr(a) for a in self._given[1:]]
        if self._name == "Callable" and self._given[0] is not ...:
            texts = [f"[{', '.join(texts[:-1])}]", texts[-1]]
        return f"typing.{self._name}[{', '.join(texts) or '()'}]"

    def __mro_entries__(self, bases):
        if self._name in _bases:
            return _bases[self._name]
        if self._name in ("OrderedDict", "DefaultDict", "Counter", "Deque"):
            import collections

            return (getattr(collections, {"DefaultDict": "defaultdict", "Deque": "deque"}.get(self._name, self._name)),)
        if self._name in _NOT_CLASSES:
            raise TypeError(f"Cannot subclass {self!r}")
        return (_abstract.Plain,)

    def __instancecheck__(self, obj):
        if self._name in _ATTRIBUTES:
            if isinstance(obj, _CONTAINERS):
                if self._name in _OF_CONTAINERS:
                    return self._name != "Reversible" or not isinstance(obj, (set, frozenset))
                if self._name != "Hashable":
                    return False
            has_all = all([getattr(obj, name, None) is not None for name in _ATTRIBUTES[self._name]])
            return has_all or _counts_as(self._name, type(obj))
        if self._name == "Callable":
            return callable(obj)
        if self._name not in _classes and self._name not in _METHODS:
            raise TypeError(f"{self!r} cannot be used with isinstance()")
        if self._name in _classes and isinstance(obj, _classes[self._name]):
            return True
        if self._name in _METHODS and _abstract.has_methods(type(obj), *_METHODS[self._name]) is True:
            return True
        return _counts_as(self._name, type(obj))

    def __subclasscheck__(self, cls):
        if self._form is not None or self._name not in _classes and self._name not in _METHODS:
            raise TypeError("Subscripted generics cannot be used with class and instance checks")
        if self._name in _classes and issubclass(cls, _classes[self._name]):
            return True
        if self._name in _METHODS:
            if _abstract.has_methods(cls, *_METHODS[self._name]) is True:
                return True
            if self._name in _OF_CONTAINERS and issubclass(cls, _CONTAINERS):
                return self._name != "Reversible" or not issubclass(cls, (set, frozenset))
        return _counts_as(self._name, cls)

    def register(self, subclass):
        """The class counts as one of them from now on."""
        _registered.setdefault(self._name, []).append(subclass)
        return subclass


class _AnyMeta(type):
    def __instancecheck__(self, obj):
        if self is Any:
            raise TypeError("typing.Any cannot be used with isinstance()")
        return self in type(obj).__mro__

    def __repr__(self):
        return "typing.Any" if self is Any else super().__repr__()


class Any(metaclass=_AnyMeta):
    """any type at all"""


def _as_type(kind):
    if isinstance(kind, str):
        return ForwardRef(kind)
    return type(None) if kind is None else kind


def _text_of(kind, none="NoneType"):
    if kind is None or kind is type(None):
        return none
    if kind is ...:
        return "..."
    if isinstance(kind, list):
        return "[" + ", ".join([_text_of(k) for k in kind]) + "]"
    if not isinstance(kind, type):
        return repr(kind)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _flat(kinds):
    """of several types, each once"""
    flat = []
    for kind in kinds:
        for each in kind.__args__ if isinstance(kind, _AnyUnion) else (type(None) if kind is None else kind,):
            if each not in flat:
                flat.append(each)
    return flat


def _union(kinds):
    """of one type, that type"""
    flat = _flat(kinds)
    return flat[0] if len(flat) == 1 else _UnionGenericAlias(tuple(flat))


class _AnyUnion:
    def __init__(self, args):
        self.__args__ = args

    @property
    def __parameters__(self):
        return tuple([a for a in self.__args__ if isinstance(a, TypeVar)])

    def __or__(self, other):
        return _joined(self, other)

    def __ror__(self, other):
        return _joined(other, self)

    def __eq__(self, other):
        return isinstance(other, _AnyUnion) and set(self.__args__) == set(other.__args__)

    def __hash__(self):
        return hash(frozenset(self.__args__))

    def __instancecheck__(self, obj):
        return isinstance(obj, self.__args__)

    def __subclasscheck__(self, cls):
        return issubclass(cls, self.__args__)



class UnionType(_AnyUnion):
    """of `int | str`"""

    __module__ = "types"

    def __repr__(self):
        return " | ".join([_text_of(a, "None") for a in self.__args__])


class _UnionGenericAlias(_AnyUnion):
    """of Union[int, str]"""

    _name = None

    @property
    def __origin__(self):
        return Union

    def __repr__(self):
        named = [a for a in self.__args__ if a is not type(None)]
        if len(named) == 1:
            return f"typing.Optional[{_text_of(named[0])}]"
        return f"typing.Union[{', '.join([_text_of(a) for a in self.__args__])}]"


def _joined(left, right):
    """left | right: typing's own where one of them is"""
    flat = _flat((left, right))
    if len(flat) == 1:
        return flat[0]
    typings = (_UnionGenericAlias, _Form, TypeVar)
    is_typing = isinstance(left, typings) or isinstance(right, typings)
    return (_UnionGenericAlias if is_typing else UnionType)(tuple(flat))


_origins = {
    "List": list,
    "Dict": dict,
    "Tuple": tuple,
    "Set": set,
    "FrozenSet": frozenset,
    "Type": type,
}
_classes = {
    "List": list,
    "Dict": dict,
    "Tuple": tuple,
    "Set": (set, frozenset, _abstract.Set),
    "FrozenSet": frozenset,
    "Type": type,
    "ByteString": (bytes, bytearray),
    "Sequence": (list, tuple, str, range, bytes, bytearray, _abstract.Sequence),
    "MutableSequence": (list, bytearray, _abstract.MutableSequence),
    "Mapping": (dict, _abstract.Mapping),
    "MutableMapping": (dict, _abstract.MutableMapping),
    "Text": str,
    "AbstractSet": (set, frozenset, _abstract.Set),
    "MutableSet": (set, _abstract.MutableSet),
}
_registered = {}
# The abstract classes below one: what is registered with them counts as that one too.
_COLLECTIONS = ("Sequence", "MutableSequence", "ByteString", "AbstractSet", "MutableSet", "Mapping", "MutableMapping")
_BELOW = {
    "Sequence": ("MutableSequence", "ByteString"),
    "AbstractSet": ("MutableSet",),
    "Mapping": ("MutableMapping",),
    "Collection": _COLLECTIONS,
    "Container": ("Collection", *_COLLECTIONS),
    "Sized": ("Collection", *_COLLECTIONS),
    "Iterable": ("Collection", *_COLLECTIONS, "Iterator", "Generator", "Reversible"),
    "Reversible": ("Sequence", "MutableSequence", "ByteString"),
    "Iterator": ("Generator",),
    "Awaitable": ("Coroutine",),
    "AsyncIterable": ("AsyncIterator", "AsyncGenerator"),
    "AsyncIterator": ("AsyncGenerator",),
}


def _counts_as(name, cls):
    given = [each for below in (name, *_BELOW.get(name, ())) for each in _registered.get(below, ())]
    return bool(given) and issubclass(cls, tuple(given))


_CONTAINERS = (
    list, tuple, dict, set, frozenset, str, range, bytes, bytearray, type({}.keys()), type({}.values()),
    type({}.items()),
)
_ATTRIBUTES = {
    "Iterable": ("__iter__",),
    "Iterator": ("__next__",),
    "Generator": ("send",),
    "Collection": ("__len__", "__iter__", "__contains__"),
    "Sized": ("__len__",),
    "Hashable": ("__hash__",),
    "Container": ("__contains__",),
    "Reversible": ("__reversed__", "__iter__"),
}
_OF_CONTAINERS = ("Iterable", "Sized", "Container", "Collection", "Reversible")
_METHODS = {
    "Iterable": ("__iter__",),
    "Iterator": ("__iter__", "__next__"),
    "Generator": ("__iter__", "__next__", "send", "throw", "close"),
    "Sized": ("__len__",),
    "Hashable": ("__hash__",),
    "Container": ("__contains__",),
    "Collection": ("__len__", "__iter__", "__contains__"),
    "Reversible": ("__reversed__", "__iter__"),
    "Callable": ("__call__",),
    "Awaitable": ("__await__",),
    "Coroutine": ("__await__", "send", "throw", "close"),
    "AsyncIterable": ("__aiter__",),
    "AsyncIterator": ("__anext__", "__aiter__"),
    "AsyncGenerator": ("__aiter__", "__anext__", "asend", "athrow", "aclose"),
    "SupportsInt": ("__int__",),
    "SupportsFloat": ("__float__",),
    "SupportsIndex": ("__index__",),
    "SupportsAbs": ("__abs__",),
    "SupportsRound": ("__round__",),
    "SupportsBytes": ("__bytes__",),
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
    "Generic": (Generic,),
}
_NOT_CLASSES = (
    "Union", "Optional", "ClassVar", "Final", "Literal", "NoReturn", "Never", "Self", "LiteralString", "TypeAlias",
    "TypeGuard", "TypeIs", "Concatenate", "Required", "NotRequired", "ReadOnly", "Unpack", "Annotated",
)

Union, Optional, Callable, ClassVar, Final, Literal = [
    _Form(n) for n in ("Union", "Optional", "Callable", "ClassVar", "Final", "Literal")
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


class TypeVar:
    """stands for a type; so do ParamSpec and TypeVarTuple"""

    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False, **options):
        self.__name__, self.__constraints__, self.__bound__ = name, constraints, bound
        self.__covariant__, self.__contravariant__ = covariant, contravariant

    def __getitem__(self, item):
        return self

    def __iter__(self):
        return iter((Unpack[self],))

    def __or__(self, other):
        return _union((self, other))

    def __ror__(self, other):
        return _union((other, self))

    def __repr__(self):
        return "~" + self.__name__


class ParamSpecArgs:
    def __init__(self, origin):
        self.__origin__ = origin


class ParamSpecKwargs(ParamSpecArgs):
    pass


class ParamSpec(TypeVar):
    @property
    def args(self):
        return ParamSpecArgs(self)

    @property
    def kwargs(self):
        return ParamSpecKwargs(self)


class TypeVarTuple(TypeVar):
    pass


class ForwardRef:
    """a type that is given by a text"""

    __slots__ = (
        "__forward_arg__", "__forward_code__", "__forward_evaluated__", "__forward_value__", "__forward_is_argument__",
        "__forward_is_class__", "__forward_module__",
    )

    def __init__(self, arg, is_argument=True, module=None, *, is_class=False):
        if not isinstance(arg, str):
            raise TypeError(f"Forward reference must be a string -- got {arg!r}")
        self.__forward_arg__, self.__forward_module__ = arg, module
        self.__forward_code__, self.__forward_evaluated__, self.__forward_value__ = None, False, None
        self.__forward_is_argument__, self.__forward_is_class__ = is_argument, is_class

    def __eq__(self, other):
        if not isinstance(other, ForwardRef):
            return NotImplemented
        named = self.__forward_arg__ == other.__forward_arg__
        return named and self.__forward_module__ == other.__forward_module__

    def __hash__(self):
        return hash((self.__forward_arg__, self.__forward_module__))

    def __or__(self, other):
        return _union((self, other))

    def __ror__(self, other):
        return _union((other, self))

    def __repr__(self):
        told = "" if self.__forward_module__ is None else f", module={self.__forward_module__!r}"
        return f"ForwardRef({self.__forward_arg__!r}{told})"


def NewType(name, tp):
    def convert(value):
        return value

    convert.__name__ = name
    return convert


def get_origin(tp):
    if isinstance(tp, _Form) and tp._name == "Annotated" and tp._form is not None:
        return Annotated
    if isinstance(tp, UnionType):
        return UnionType
    if isinstance(tp, (_Form, _AnyUnion)):
        return getattr(tp, "__origin__", None)
    return tp.__origin__ if _is_alias(tp) else None


def _is_alias(tp):
    if isinstance(tp, (type, str)):
        return False
    from types import GenericAlias

    return isinstance(tp, GenericAlias)


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    if isinstance(obj, type):
        owners = [base for base in obj.__mro__[::-1] if "__annotations__" in base.__dict__]
    else:
        owners = [obj]
    out = {}
    for owner in owners:
        scene = owner
        while not isinstance(scene, type) and hasattr(scene, "__wrapped__"):
            scene = scene.__wrapped__
        for name, kind in owner.__annotations__.items():
            kind = type(None) if kind is None else ForwardRef(kind) if isinstance(kind, str) else kind
            kind = _evaluated(kind, getattr(scene, "__func__", scene), globalns, localns)
            out[name] = kind if include_extras else _without_extras(kind)
    return out


def _evaluated(kind, owner, globalns, localns):
    """a type whose parts that are given by texts are known; a text may name a type by a text again"""
    if isinstance(kind, ForwardRef):
        text = kind.__forward_arg__
        if globalns is None and localns is None:
            import _tidemark

            module = _tidemark.modules().get(kind.__forward_module__)
            found = _tidemark.evaluate_in(module or owner, text)
        else:
            found = eval(text, localns if globalns is None else globalns, globalns if localns is None else localns)
        return _evaluated(_as_type(found), owner, globalns, localns)
    return _rebuilt(kind, lambda part: _evaluated(part, owner, globalns, localns))


def _without_extras(kind):
    if isinstance(kind, _Form) and kind._form is not None and kind._name in ("Annotated", "Required", "NotRequired"):
        return _without_extras(kind.__args__[0])
    return _rebuilt(kind, _without_extras)


def _rebuilt(kind, change):
    """the type with each of its parts changed; itself where none is"""
    if isinstance(kind, _Form) and kind._form is not None:
        old, wrapped = kind._given, kind._name not in ("Literal", "Annotated")
        new = tuple([change(part) for part in old]) if wrapped else old
        if kind._name == "Annotated":
            new = (change(old[0]), *old[1:])
    elif isinstance(kind, _AnyUnion):
        old = kind.__args__
        new = tuple([change(part) for part in old])
    elif _is_alias(kind):
        old = kind.__args__
        new = tuple([change(ForwardRef(part) if isinstance(part, str) else part) for part in old])
    else:
        return kind
    if all([before is after for before, after in zip(old, new)]):
        return kind
    if isinstance(kind, _Form):
        return kind._form[new if len(new) != 1 else new[0]]
    if isinstance(kind, UnionType):
        return UnionType(new)
    return _union(new) if isinstance(kind, _AnyUnion) else type(kind)(kind.__origin__, new)


def is_typeddict(tp):
    return isinstance(tp, type) and issubclass(tp, _abstract.TypedDict)


def get_args(tp):
    if isinstance(tp, _Form) and tp._form is not None:
        if tp._name == "Annotated":
            return tp._given
        if tp._name == "Callable" and tp._given and tp._given[0] is not ...:
            return list(tp._given[:-1]), tp._given[-1]
    return getattr(tp, "__args__", ()) if isinstance(tp, (_Form, _AnyUnion)) or _is_alias(tp) else ()


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
