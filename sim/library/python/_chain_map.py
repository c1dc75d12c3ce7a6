from _abstract import MutableMapping
from reprlib import recursive_repr


class ChainMap(MutableMapping):
    __module__ = "collections"

    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        for mapping in self.maps:
            try:
                return mapping[key]
            except KeyError:
                pass
        return self.__missing__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        try:
            del self.maps[0][key]
        except KeyError:
            raise KeyError(f"Key not found in the first mapping: {key!r}") from None

    def __contains__(self, key):
        return any([key in mapping for mapping in self.maps])

    def _keys(self):
        found = {}
        for mapping in reversed(self.maps):
            found.update(dict.fromkeys(mapping))
        return found

    def __iter__(self):
        return iter(self._keys())

    def __len__(self):
        return len(self._keys())

    def __bool__(self):
        return any([bool(mapping) for mapping in self.maps])

    @recursive_repr()
    def __repr__(self):
        return f"{self.__class__.__name__}({', '.join([repr(mapping) for mapping in self.maps])})"

    @classmethod
    def fromkeys(cls, iterable, *args):
        return cls(dict.fromkeys(iterable, *args))

    def copy(self):
        return self.__class__(self.maps[0].copy(), *self.maps[1:])

    __copy__ = copy

    def new_child(self, m=None, **kwargs):
        if m is None:
            m = kwargs
        elif kwargs:
            m.update(kwargs)
        return self.__class__(m, *self.maps)

    @property
    def parents(self):
        return self.__class__(*self.maps[1:])

    def popitem(self):
        try:
            return self.maps[0].popitem()
        except KeyError:
            raise KeyError("No keys found in the first mapping.") from None

    def pop(self, key, *args):
        try:
            return self.maps[0].pop(key, *args)
        except KeyError:
            raise KeyError(f"Key not found in the first mapping: {key!r}") from None

    def clear(self):
        self.maps[0].clear()

    def __ior__(self, other):
        self.maps[0].update(other)
        return self

    def __or__(self, other):
        if not isinstance(other, (dict, MutableMapping)):
            return NotImplemented
        made = self.copy()
        made.maps[0].update(other)
        return made

    def __ror__(self, other):
        if not isinstance(other, (dict, MutableMapping)):
            return NotImplemented
        made = dict(other)
        for mapping in reversed(self.maps):
            made.update(mapping)
        return self.__class__(made)
