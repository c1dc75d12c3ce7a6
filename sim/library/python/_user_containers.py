"""Classes that hold a built-in object in `data`, to inherit from."""

from _abstract import MutableMapping, MutableSequence, Sequence


class UserDict(MutableMapping):
    __module__ = "collections"

    def __init__(self, dict=None, /, **kwargs):
        self.data = {}
        if dict is not None:
            self.update(dict)
        if kwargs:
            self.update(kwargs)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, key):
        if key in self.data:
            return self.data[key]
        if hasattr(self.__class__, "__missing__"):
            return self.__class__.__missing__(self, key)
        raise KeyError(key)

    def __setitem__(self, key, item):
        self.data[key] = item

    def __delitem__(self, key):
        del self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __contains__(self, key):
        return key in self.data

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __repr__(self):
        return repr(self.data)

    def __or__(self, other):
        if isinstance(other, UserDict):
            return self.__class__(self.data | other.data)
        return self.__class__(self.data | other) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other):
        return self.__class__(other | self.data) if isinstance(other, dict) else NotImplemented

    def __ior__(self, other):
        self.data |= other.data if isinstance(other, UserDict) else other
        return self

    def __copy__(self):
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__)
        made.__dict__["data"] = self.__dict__["data"].copy()
        return made

    def copy(self):
        if self.__class__ is UserDict:
            return UserDict(self.data.copy())
        made = self.__copy__()
        return made

    @classmethod
    def fromkeys(cls, iterable, value=None):
        made = cls()
        for key in iterable:
            made[key] = value
        return made


def _plain(other):
    return other.data if isinstance(other, UserList) else other


class UserList(MutableSequence):
    __module__ = "collections"
    __hash__ = None

    def __init__(self, initlist=None):
        self.data = []
        if initlist is not None:
            self.data = list(initlist.data if isinstance(initlist, UserList) else initlist)

    def __repr__(self):
        return repr(self.data)

    def __eq__(self, other):
        return self.data == _plain(other)

    def __ne__(self, other):
        return self.data != _plain(other)

    def __lt__(self, other):
        return self.data < _plain(other)

    def __le__(self, other):
        return self.data <= _plain(other)

    def __gt__(self, other):
        return self.data > _plain(other)

    def __ge__(self, other):
        return self.data >= _plain(other)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        at = 0
        while True:
            try:
                item = self[at]
            except IndexError:
                return
            yield item
            at += 1

    def __contains__(self, item):
        return item in self.data

    def __getitem__(self, i):
        return self.__class__(self.data[i]) if isinstance(i, slice) else self.data[i]

    def __setitem__(self, i, item):
        self.data[i] = item

    def __delitem__(self, i):
        del self.data[i]

    def __add__(self, other):
        return self.__class__(self.data + (_plain(other) if isinstance(other, (UserList, list)) else list(other)))

    def __radd__(self, other):
        return self.__class__((_plain(other) if isinstance(other, (UserList, list)) else list(other)) + self.data)

    def __iadd__(self, other):
        self.data += list(_plain(other))
        return self

    def __mul__(self, n):
        return self.__class__(self.data * n)

    __rmul__ = __mul__

    def __imul__(self, n):
        self.data *= n
        return self

    def __copy__(self):
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__)
        made.__dict__["data"] = self.__dict__["data"][:]
        return made

    def append(self, item):
        self.data.append(item)

    def insert(self, i, item):
        self.data.insert(i, item)

    def pop(self, i=-1):
        return self.data.pop(i)

    def remove(self, item):
        self.data.remove(item)

    def clear(self):
        self.data.clear()

    def copy(self):
        return self.__class__(self)

    def count(self, item):
        return self.data.count(item)

    def index(self, item, *args):
        return self.data.index(item, *args)

    def reverse(self):
        self.data.reverse()

    def sort(self, /, *args, **kwds):
        self.data.sort(*args, **kwds)

    def extend(self, other):
        self.data.extend(_plain(other))


_SAME = (
    "capitalize casefold center expandtabs ljust lower lstrip removeprefix removesuffix replace rjust rstrip strip"
    " swapcase title translate upper zfill"
).split()
_OTHER = (
    "count encode endswith find format format_map index isalpha isalnum isascii isdecimal isdigit isidentifier islower"
    " isnumeric isprintable isspace istitle isupper join partition rfind rindex rpartition rsplit split splitlines"
    " startswith"
).split()


def _text(value):
    return value.data if isinstance(value, UserString) else value


class UserString(Sequence):
    __module__ = "collections"

    def __init__(self, seq):
        self.data = _text(seq) if isinstance(seq, (str, UserString)) else str(seq)

    def __getattr__(self, name):
        if name not in _SAME and name not in _OTHER:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def method(*args, **kwargs):
            found = getattr(self.data, name)(*[_text(each) for each in args], **kwargs)
            return self.__class__(found) if name in _SAME else found

        return method

    def count(self, *args):
        return self.data.count(*[_text(each) for each in args])

    def index(self, *args):
        return self.data.index(*[_text(each) for each in args])

    def __str__(self):
        return str(self.data)

    def __repr__(self):
        return repr(self.data)

    def __int__(self):
        return int(self.data)

    def __float__(self):
        return float(self.data)

    def __hash__(self):
        return hash(self.data)

    def __eq__(self, other):
        return self.data == _text(other)

    def __lt__(self, other):
        return self.data < _text(other)

    def __le__(self, other):
        return self.data <= _text(other)

    def __gt__(self, other):
        return self.data > _text(other)

    def __ge__(self, other):
        return self.data >= _text(other)

    def __contains__(self, char):
        return _text(char) in self.data

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter([self.__class__(c) for c in self.data])

    def __getitem__(self, index):
        return self.__class__(self.data[index])

    def __add__(self, other):
        return self.__class__(self.data + str(_text(other)))

    def __radd__(self, other):
        return self.__class__(str(_text(other)) + self.data)

    def __mul__(self, n):
        return self.__class__(self.data * n)

    __rmul__ = __mul__

    def __mod__(self, args):
        return self.__class__(self.data % args)

    def __rmod__(self, template):
        return self.__class__(str(template) % self)
