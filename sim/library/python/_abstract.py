class _ViewMeta(type):
    """the views of a dict are of these classes too"""

    def __instancecheck__(self, obj):
        return self in type(obj).__mro__ or self._is_above(type(obj))

    def __subclasscheck__(self, cls):
        return self in cls.__mro__ or self._is_above(cls)

    def _is_above(self, cls):
        kinds = {"KeysView": {}.keys(), "ValuesView": {}.values(), "ItemsView": {}.items()}
        return self.__name__ in kinds and cls is type(kinds[self.__name__])


class _View(metaclass=_ViewMeta):
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

    def __xor__(self, other):
        return set(self) ^ set(other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__  # each of them is even in its sides

    def __sub__(self, other):
        return set(self) - set(other)

    def __rsub__(self, other):
        return set(other) - set(self)

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


def has_methods(cls, *names):
    """True where the class or one above it has each of them, and none is None there."""
    for name in names:
        for base in cls.__mro__:
            if name in base.__dict__:
                if base.__dict__[name] is None:
                    return NotImplemented
                break
        else:
            return NotImplemented
    return True


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

    def index(self, value, start=0, stop=None):
        size = len(self)
        start = max(start + size, 0) if start is not None and start < 0 else start or 0
        stop = size if stop is None else stop + size if stop < 0 else stop
        for i in range(start, stop):
            try:
                v = self[i]
            except IndexError:
                break
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

    def reverse(self):
        size = len(self)
        for i in range(size // 2):
            self[i], self[size - i - 1] = self[size - i - 1], self[i]

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


_none_of_them = (
    "__module__",
    "__doc__",
    "__annotations__",
    "__init__",
    "__qualname__",
    "__slots__",
    "_is_runtime_protocol",
    "__init_subclass__",
)


class Generic:
    def __class_getitem__(cls, item):
        if cls is Generic:
            return _GenericOf(item)
        from types import GenericAlias

        return GenericAlias(cls, item)


class _GenericOf:
    """Generic[T] among the bases of a class: it gives way to one that derives from Generic itself"""

    def __init__(self, item):
        self.__origin__, self.__args__ = Generic, item if isinstance(item, tuple) else (item,)
        self.__parameters__ = self.__args__

    def __mro_entries__(self, bases):
        kinds = [getattr(each, "__origin__", each) for each in bases if each is not self]
        derived = any([isinstance(each, type) and each is not Generic and issubclass(each, Generic) for each in kinds])
        return () if derived else (Generic,)


class Protocol(metaclass=ProtocolType):
    def __class_getitem__(cls, item):
        return cls


class TypedDict(dict):
    __module__ = "typing"

    __required_keys__ = __optional_keys__ = frozenset()

    def __init_subclass__(cls, total=True):
        import _tidemark

        own = frozenset(_tidemark.annotations(cls))
        above = [base for base in cls.__bases__ if _tidemark.annotations(base)]
        if above:
            all_of = {}
            for each in above + [cls]:
                all_of.update(each.__annotations__)
            cls.__annotations__ = all_of
        required, optional = (own, frozenset()) if total else (frozenset(), own)
        for base in cls.__bases__:
            required |= getattr(base, "__required_keys__", frozenset()) - own
            optional |= getattr(base, "__optional_keys__", frozenset()) - own
        cls.__required_keys__, cls.__optional_keys__, cls.__total__ = required, optional, total

    def __new__(cls, *args, **kwargs):
        return dict(*args, **kwargs)


class Set:
    """abstract: __contains__, __iter__ and __len__ are a subclass's"""

    @classmethod
    def _from_iterable(cls, it):
        return cls(it)

    def __le__(self, other):
        return all([item in other for item in self])

    def __ge__(self, other):
        return all([item in self for item in other])

    def __lt__(self, other):
        return len(self) < len(other) and self <= other

    def __gt__(self, other):
        return len(self) > len(other) and self >= other

    def __eq__(self, other):
        return isinstance(other, (set, frozenset, Set)) and len(self) == len(other) and self <= other

    def __and__(self, other):
        return self._from_iterable([item for item in other if item in self])

    def __or__(self, other):
        return self._from_iterable([*self, *other])

    def __sub__(self, other):
        return self._from_iterable([item for item in self if item not in other])

    def __xor__(self, other):
        return (self - other) | (self._from_iterable(other) - self)

    def isdisjoint(self, other):
        return not any([item in self for item in other])


class MutableSet(Set):
    def remove(self, value):
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def pop(self):
        for value in self:
            self.discard(value)
            return value
        raise KeyError("pop from an empty set")

    def clear(self):
        for value in list(self):
            self.discard(value)

    def update(self, *others):
        for other in others:
            for value in other:
                self.add(value)

    def __ior__(self, it):
        self.update(it)
        return self

    def __iand__(self, it):
        for value in self - it:
            self.discard(value)
        return self

    def __isub__(self, it):
        for value in list(it):
            self.discard(value)
        return self
