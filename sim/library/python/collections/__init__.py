import _tidemark
from _abstract import ChainMap, UserDict

namedtuple = _tidemark.named_tuple
defaultdict = _tidemark.dict_type("defaultdict")


def _default(cls, default_factory=None, items=(), /, **kwargs):
    out = _tidemark.make_dict(cls, default_factory, items)
    out.update(kwargs)
    return out


def _start_default(self, default_factory=None, items=(), /, **kwargs):
    _tidemark.set_factory(self, default_factory)
    dict.__init__(self, items, **kwargs)


_tidemark.set_construct(defaultdict, _default)
_tidemark.set_method(defaultdict, "__init__", _start_default)


class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        value = self.pop(key)
        rest = [] if last else list(self.items())
        if not last:
            self.clear()
        self[key] = value
        for other, kept in rest:
            self[other] = kept

    def copy(self):
        return self.__class__(self)

    @classmethod
    def fromkeys(cls, iterable, value=None):
        out = cls()
        for key in iterable:
            out[key] = value
        return out

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return dict.__eq__(self, other) and list(self) == list(other)
        return dict.__eq__(self, other)

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        out = self.__class__(self)
        out.update(other)
        return out

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        out = self.__class__(other)
        out.update(self)
        return out

    def __repr__(self):
        return f"{type(self).__name__}({list(self.items())!r})" if self else f"{type(self).__name__}()"


class Counter(dict):
    def __init__(self, iterable=None, /, **kwds):
        self.update(iterable, **kwds)

    def __missing__(self, key):
        return 0

    def _count(self, iterable, sign):
        pairs = iterable.items() if isinstance(iterable, dict) else [(item, 1) for item in iterable or ()]
        for key, n in pairs:
            self[key] = self.get(key, 0) + sign * n
        return self

    def update(self, iterable=None, /, **kwds):
        self._count(iterable, 1)._count(kwds, 1)

    def subtract(self, iterable=None, /, **kwds):
        self._count(iterable, -1)._count(kwds, -1)

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:n]

    def elements(self):
        return iter([key for key, n in self.items() for _ in range(n)])

    def total(self):
        return sum(self.values())

    def copy(self):
        return type(self)(self)

    def _positive(self):
        return Counter({key: n for key, n in self.items() if n > 0})

    def __add__(self, other):
        return self.copy()._count(other, 1)._positive()

    def __sub__(self, other):
        return self.copy()._count(other, -1)._positive()

    def __or__(self, other):
        return Counter({key: max(self[key], other[key]) for key in {**self, **other}})._positive()

    def __and__(self, other):
        return Counter({key: min(n, other[key]) for key, n in self.items()})._positive()

    def __repr__(self):
        return f"{type(self).__name__}({dict(self.most_common())!r})" if self else f"{type(self).__name__}()"


class deque:
    """A list of which the first `_head` places are free: what is taken from the left is moved past,
    and the places go once they are half of the list."""

    __is_sequence__ = True

    def __class_getitem__(cls, item):
        return cls

    def __init__(self, iterable=(), maxlen=None):
        self.maxlen = maxlen
        self._list = []
        self._head = 0
        self.extend(iterable)

    @property
    def _items(self):
        if self._head:
            del self._list[:self._head]
            self._head = 0
        return self._list

    def append(self, x):
        self._list.append(x)
        if self.maxlen is not None and len(self) > self.maxlen:
            self.popleft()

    def appendleft(self, x):
        if self._head == 0:
            room = len(self._list) + 8
            self._list[:0] = [None] * room
            self._head = room
        self._head -= 1
        self._list[self._head] = x
        if self.maxlen is not None and len(self) > self.maxlen:
            self._list.pop()

    def extend(self, iterable):
        for x in iterable:
            self.append(x)

    def extendleft(self, iterable):
        for x in iterable:
            self.appendleft(x)

    def pop(self):
        if len(self) == 0:
            raise IndexError("pop from an empty deque")
        return self._list.pop()

    def popleft(self):
        if len(self) == 0:
            raise IndexError("pop from an empty deque")
        x = self._list[self._head]
        self._list[self._head] = None
        self._head += 1
        if 2 * self._head > len(self._list) and self._head > 16:
            del self._list[:self._head]
            self._head = 0
        return x

    def clear(self):
        for i in range(len(self._list)):
            self._list[i] = None  # dropped from the left
        self._list.clear()
        self._head = 0

    def rotate(self, n=1):
        for _ in range(abs(n) % len(self) if self else 0):
            if n > 0:
                self.appendleft(self._list.pop())
            else:
                self.append(self.popleft())

    def remove(self, value):
        if value not in self._items:
            raise ValueError("deque.remove(x): x not in deque")
        self._items.remove(value)

    def insert(self, i, x):
        if self.maxlen is not None and len(self._items) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self._items.insert(i, x)

    def index(self, x, *bounds):
        return self._items.index(x, *bounds)

    def count(self, x):
        return self._items.count(x)

    def reverse(self):
        self._items.reverse()

    def copy(self):
        return deque(self._items, self.maxlen)

    __copy__ = copy

    def __add__(self, other):
        return deque(self._items + list(other), self.maxlen)

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __eq__(self, other):
        return self._items == other._items if isinstance(other, deque) else NotImplemented

    def __reversed__(self):
        return reversed(self._items)

    def __contains__(self, x):
        return x in self._items

    def __delitem__(self, i):
        del self._items[i]

    def __len__(self):
        return len(self._list) - self._head

    def __iter__(self):
        return iter(self._items)

    def __getitem__(self, i):
        return self._items[i]

    def __setitem__(self, i, value):
        self._items[i] = value

    def __bool__(self):
        return len(self) > 0

    def __repr__(self):
        return f"deque({self._items!r})" if self.maxlen is None else f"deque({self._items!r}, maxlen={self.maxlen})"


class UserList:
    def __init__(self, initlist=None):
        self.data = [] if initlist is None else list(initlist)

    def __repr__(self):
        return repr(self.data)

    def __eq__(self, other):
        return self.data == (other.data if isinstance(other, UserList) else other)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def __contains__(self, item):
        return item in self.data

    def __getitem__(self, i):
        return type(self)(self.data[i]) if isinstance(i, slice) else self.data[i]

    def __setitem__(self, i, item):
        self.data[i] = item

    def __delitem__(self, i):
        del self.data[i]

    def __add__(self, other):
        return type(self)(self.data + list(other))

    def __radd__(self, other):
        return type(self)(list(other) + self.data)

    def __iadd__(self, other):
        self.data += list(other)
        return self

    def __mul__(self, n):
        return type(self)(self.data * n)

    __rmul__ = __mul__

    def __getattr__(self, name):
        if name in ("append", "insert", "pop", "remove", "clear", "count", "index", "reverse", "sort", "extend"):
            return getattr(self.data, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def copy(self):
        return type(self)(self)
