import _tidemark
from _abstract import Mapping
from _code import TracebackType
from reprlib import recursive_repr
from typing import TypeVar, UnionType, _joined


class SimpleNamespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    @recursive_repr("namespace(...)")
    def __repr__(self):
        name = "namespace" if type(self) is SimpleNamespace else type(self).__name__
        return name + "(" + ", ".join([f"{k}={v!r}" for k, v in self.__dict__.items()]) + ")"

    def __reduce__(self):
        return type(self), (), self.__dict__

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


def _function():
    pass


FunctionType = LambdaType = type(_function)
NoneType = type(None)
MethodType = type(SimpleNamespace().__repr__)
BuiltinFunctionType = type(len)
ModuleType = type(_tidemark)
GeneratorType = type((i for i in ()))


class GenericAlias:
    """of `Name[int]`: the class, and what it holds"""

    def __init__(self, origin, args):
        self.__origin__, self.__args__ = origin, args if isinstance(args, tuple) else (args,)
        found = {}
        for each in self.__args__:
            for parameter in getattr(each, "__parameters__", ()) if not isinstance(each, TypeVar) else (each,):
                found[parameter] = True
        self.__parameters__ = tuple(found)

    def __call__(self, *args, **kwargs):
        made = self.__origin__(*args, **kwargs)
        try:
            made.__orig_class__ = self
        except (AttributeError, TypeError):
            pass
        return made

    def __getattr__(self, name):
        if name in ("__origin__", "__args__", "__parameters__"):
            raise AttributeError(name)
        return getattr(self.__origin__, name)

    def __getitem__(self, items):
        items = items if isinstance(items, tuple) else (items,)
        if not self.__parameters__:
            raise TypeError(f"{self!r} is not a generic class")
        if len(items) != len(self.__parameters__):
            many = "many" if len(items) > len(self.__parameters__) else "few"
            raise TypeError(f"Too {many} arguments for {self!r}")
        given = dict(zip(self.__parameters__, items))
        args = []
        for each in self.__args__:
            own = getattr(each, "__parameters__", ()) if not isinstance(each, TypeVar) else ()
            args.append(each[tuple([given[name] for name in own])] if own else given.get(each, each))
        return GenericAlias(self.__origin__, tuple(args))

    def __mro_entries__(self, bases):
        return (self.__origin__,)

    def __instancecheck__(self, instance):
        raise TypeError("isinstance() argument 2 cannot be a parameterized generic")

    def __subclasscheck__(self, cls):
        raise TypeError("issubclass() argument 2 cannot be a parameterized generic")

    def __or__(self, other):
        return _joined(self, other)

    def __ror__(self, other):
        return _joined(other, self)

    def __eq__(self, other):
        if not isinstance(other, GenericAlias):
            return NotImplemented
        return self.__origin__ == other.__origin__ and self.__args__ == other.__args__

    def __hash__(self):
        return hash((self.__origin__, self.__args__))

    def __reduce__(self):
        return GenericAlias, (self.__origin__, self.__args__)

    def __repr__(self):
        return f"{_shown(self.__origin__)}[{', '.join([_shown(each) for each in self.__args__]) or '()'}]"


def _shown(value):
    if value is ...:
        return "..."
    if isinstance(value, list):
        return f"[{', '.join([_shown(each) for each in value])}]"
    if not isinstance(value, type):
        return repr(value)
    module = value.__module__
    return value.__qualname__ if module == "builtins" else f"{module}.{value.__qualname__}"


FrameType = type(_tidemark.frame(0))


class CodeType:
    pass


class CellType:
    pass


class CoroutineType:
    pass


class AsyncGeneratorType:
    pass


MethodWrapperType = WrapperDescriptorType = MethodDescriptorType = ClassMethodDescriptorType = BuiltinFunctionType
BuiltinMethodType = BuiltinFunctionType
EllipsisType, NotImplementedType = type(...), type(NotImplemented)
GetSetDescriptorType = MemberDescriptorType = type(property())


def resolve_bases(bases):
    """The bases, each that is no class as its __mro_entries__ says."""
    found, changed = [], False
    for base in bases:
        entries = None if isinstance(base, type) else getattr(type(base), "__mro_entries__", None)
        if entries is None:
            found.append(base)
            continue
        given = entries(base, bases)
        if not isinstance(given, tuple):
            raise TypeError("__mro_entries__ must return a tuple")
        found.extend(given)
        changed = True
    return tuple(found) if changed else bases


def prepare_class(name, bases=(), kwds=None):
    kwds = dict(kwds or {})
    meta = kwds.pop("metaclass", None) or (type(bases[0]) if bases else type)
    if isinstance(meta, type):
        for base in bases:
            kind = type(base)
            if issubclass(meta, kind):
                continue
            if not issubclass(kind, meta):
                raise TypeError(
                    "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the "
                    "metaclasses of all its bases"
                )
            meta = kind
    prepare = getattr(meta, "__prepare__", None)
    return meta, {} if prepare is None else prepare(name, bases, **kwds), kwds


def new_class(name, bases=(), kwds=None, exec_body=None):
    resolved = resolve_bases(bases)
    meta, namespace, kwds = prepare_class(name, resolved, kwds)
    if exec_body is not None:
        exec_body(namespace)
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    return meta(name, resolved, namespace, **kwds)


def coroutine(func):
    return func


class DynamicClassAttribute(property):
    """of instances; asked of a class, it is an attribute of the class's own class"""

    def __get__(self, instance, ownerclass=None):
        if instance is None:
            if getattr(self.fget, "__isabstractmethod__", False):
                return self
            raise AttributeError
        return super().__get__(instance, ownerclass)


class mappingproxy(Mapping):
    def __init__(self, mapping):
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def __contains__(self, key):
        return key in self._mapping

    def __reversed__(self):
        return reversed(self._mapping)

    def __or__(self, other):
        return self._mapping | (other._mapping if isinstance(other, mappingproxy) else other)

    def __ror__(self, other):
        return other | self._mapping

    def __ior__(self, other):
        raise TypeError(f"'|=' is not supported by {type(self).__name__}; use '|' instead")

    def __eq__(self, other):
        return self._mapping == (other._mapping if isinstance(other, mappingproxy) else other)

    def __hash__(self):
        return hash(self._mapping)

    def get(self, key, default=None):
        return self._mapping.get(key, default)

    def keys(self):
        return self._mapping.keys()

    def values(self):
        return self._mapping.values()

    def items(self):
        return self._mapping.items()

    def copy(self):
        return self._mapping.copy()

    def __str__(self):
        return str(self._mapping)

    def __repr__(self):
        return f"mappingproxy({self._mapping!r})"


MappingProxyType = mappingproxy
mappingproxy.__module__ = "builtins"
