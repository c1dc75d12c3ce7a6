import _tidemark
from types import MappingProxyType

_access = _tidemark.attribute_access


class _View:
    def __init__(self, table, part):
        self._table, self._part = table, part

    def _one(self, name):
        return (
            name if self._part == "keys" else self._table[name] if self._part == "values" else (name, self._table[name])
        )

    def __len__(self):
        return len(self._table)

    def __iter__(self):
        table = self._table
        names = table._names()
        size = table._size()
        for name in names:
            if table._size() != size and len(table) != len(names):
                raise RuntimeError("dictionary changed size during iteration")
            yield self._one(name)
        if table._size() != size and len(table) != len(names):
            raise RuntimeError("dictionary changed size during iteration")

    def __reversed__(self):
        return iter([self._one(name) for name in self._table._names()[::-1]])

    def __contains__(self, item):
        return any([each == item for each in self])

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

    def __repr__(self):
        return "dict_" + self._part + "(" + repr(list(self)) + ")"


class AttributeTable(_tidemark.mapping_base):
    _tidemark_stands_for = dict  # what type() says
    __class__ = property(lambda self: dict)

    def __init__(self, owner, table, access):
        self._owner, self._of, self._access = owner, table, access

    def _names(self):
        return self._access[0](self._owner, self._of)

    def _size(self):
        return self._access[4](self._owner, self._of)

    def _find(self, key):
        found = self._access[1](self._owner, self._of, key) if isinstance(key, str) else NotImplemented
        if found is NotImplemented and not self._of and key in getattr(type(self._owner), "_kept_apart", ()):
            return getattr(self._owner, key)  # its class holds it in another way
        return found

    def __len__(self):
        return len(self._names())

    def __iter__(self):
        return iter(_View(self, "keys"))

    def __reversed__(self):
        return iter(self._names()[::-1])

    __contains__ = _tidemark.table_has

    def __getitem__(self, key):
        found = self._find(key)
        if found is NotImplemented:
            raise KeyError(key)
        return found

    def __setitem__(self, key, value):
        if not isinstance(key, str):
            raise TypeError("names of attributes are strings")
        self._access[2](self._owner, self._of, key, value)

    def __delitem__(self, key):
        self[key]
        self._access[3](self._owner, self._of, key)

    def __eq__(self, other):
        return isinstance(other, dict) and dict(self) == dict(other)

    def __or__(self, other):
        return dict(self) | dict(other)

    def __ror__(self, other):
        return dict(other) | dict(self)

    def __ior__(self, other):
        self.update(other)
        return self

    def __repr__(self):
        return repr(dict(self))

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return _tidemark.deepcopy(dict(self))

    def keys(self):
        return _View(self, "keys")

    def values(self):
        return _View(self, "values")

    def items(self):
        return _View(self, "items")

    get = _tidemark.table_get

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key, *default):
        if key not in self and default:
            return default[0]
        found = self[key]
        del self[key]
        return found

    def popitem(self, last=True):
        names = self._names()
        if not names:
            raise KeyError("popitem(): dictionary is empty")
        return names[-1], self.pop(names[-1])

    def update(self, *others, **kwargs):
        for key, value in dict(*others, **kwargs).items():
            self[key] = value

    def clear(self):
        for name in self._names():
            del self[name]

    def copy(self):
        return dict(self)


class _BesideSlots(AttributeTable):
    """of an object some of whose attributes lie in slots"""

    def __init__(self, owner, access, slots):
        super().__init__(owner, "", access)
        self._slots = slots

    def _names(self):
        return [name for name in super()._names() if name not in self._slots]

    def _find(self, key):
        return NotImplemented if key in self._slots else super()._find(key)


_without_dict = ("_abstract", "abc", "builtins", "collections.abc", "typing")


def _slots_of(cls):
    """Names in slots, and whether the objects have a __dict__ beside. Source: CPython's type_new."""
    names, has_dict = set(), False
    for each in cls.__mro__:
        if each is object:
            continue
        given = _tidemark.own_attribute(each, "__slots__")
        if given is NotImplemented:
            plain = each.__module__ in _without_dict and not issubclass(each, BaseException)
            has_dict = has_dict or not plain
            continue
        given = [given] if isinstance(given, str) else list(given)
        has_dict = has_dict or "__dict__" in given
        for name in given:
            private = name.startswith("__") and not name.endswith("__")
            names.add(f"_{each.__name__.lstrip('_')}{name}" if private else name)
    return names, has_dict


def of(owner):
    table = AttributeTable(owner, "", _access)
    if isinstance(owner, type):
        return MappingProxyType(table)
    if getattr(type(owner), "__slots__", None) is not None:
        names, has_dict = _slots_of(type(owner))
        if not has_dict:
            return NotImplemented
        if names:
            return _BesideSlots(owner, _access, names)
    return table
