import _tidemark
import keyword
from _chain_map import ChainMap
from _default_dict import defaultdict
from _user_containers import UserDict, UserList, UserString
from reprlib import recursive_repr
from types import GenericAlias

__all__ = [
    "ChainMap", "Counter", "OrderedDict", "UserDict", "UserList", "UserString", "defaultdict", "deque", "namedtuple"
]


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    names = field_names.replace(",", " ").split() if isinstance(field_names, str) else [str(n) for n in field_names]
    typename, seen = str(typename), set()
    if rename:
        for place, name in enumerate(names):
            if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_") or name in seen:
                names[place] = f"_{place}"
            seen.add(name)
        seen = set()
    for name in [typename, *names]:
        if not name.isidentifier():
            raise ValueError(f"Type names and field names must be valid identifiers: {name!r}")
        if keyword.iskeyword(name):
            raise ValueError(f"Type names and field names cannot be a keyword: {name!r}")
    for name in names:
        if name.startswith("_") and not rename:
            raise ValueError(f"Field names cannot start with an underscore: {name!r}")
        if name in seen:
            raise ValueError(f"Encountered duplicate field name: {name!r}")
        seen.add(name)
    defaults = () if defaults is None else tuple(defaults)
    if len(defaults) > len(names):
        raise TypeError("Got more default values than field names")
    made = _tidemark.named_tuple(typename, names, defaults=defaults)
    made.__module__ = module or _tidemark.frame(1).f_globals.get("__name__", "__main__")
    made.__doc__ = f"{typename}({', '.join(names)})"
    return made


_shown = set()  # dictionaries whose repr() is being made


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

    def pop(self, key, *default, **named):
        if named:
            default = (named.pop("default"),)
        return dict.pop(self, key, *default)

    def setdefault(self, key, default=None):
        return dict.setdefault(self, key, default)

    def __ior__(self, other):
        self.update(other)
        return self

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
        if id(self) in _shown:
            return "..."
        _shown.add(id(self))
        try:
            return f"{type(self).__name__}({list(self.items())!r})" if self else f"{type(self).__name__}()"
        finally:
            _shown.discard(id(self))


def _count_elements(mapping, iterable):
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


class Counter(dict):
    def __init__(self, iterable=None, /, **kwds):
        self.update(iterable, **kwds)

    def __missing__(self, key):
        return 0

    def _count(self, iterable, sign):
        if isinstance(iterable, dict) or hasattr(iterable, "items") and hasattr(iterable, "keys"):
            for key, n in iterable.items():
                # The first count of an empty counter is kept as it is, whatever its type.
                self[key] = n if sign > 0 and not self and key not in self else self.get(key, 0) + sign * n
        elif iterable is not None:
            for item in iterable:
                self[item] = self.get(item, 0) + sign
        return self

    def update(self, iterable=None, /, **kwds):
        if isinstance(iterable, dict) and not self:
            dict.update(self, iterable)
        else:
            self._count(iterable, 1)
        if kwds:
            self._count(kwds, 1)

    def subtract(self, iterable=None, /, **kwds):
        self._count(iterable, -1)
        if kwds:
            self._count(kwds, -1)

    @classmethod
    def fromkeys(cls, iterable, v=None):
        raise NotImplementedError("Counter.fromkeys() is undefined.  Use Counter(iterable) instead.")

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:max(n, 0)]

    def elements(self):
        return iter([key for key, n in self.items() for _ in range(n)])

    def total(self):
        return sum(self.values())

    def copy(self):
        return self.__class__(self)

    __copy__ = copy

    def __reduce__(self):
        return (self.__class__, (dict(self),))

    def __delitem__(self, key):
        if key in self:
            dict.__delitem__(self, key)

    def _positive(self):
        return Counter({key: n for key, n in self.items() if n > 0})

    def _keep_positive(self):
        for key in [key for key, n in self.items() if not n > 0]:
            del self[key]
        return self

    def __add__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return Counter({key: self[key] + other[key] for key in {**self, **other}})._positive()

    def __sub__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return Counter({key: self[key] - other[key] for key in {**self, **other}})._positive()

    def __or__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return Counter({key: max(self[key], other[key]) for key in {**self, **other}})._positive()

    def __and__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return Counter({key: min(n, other[key]) for key, n in self.items()})._positive()

    def __pos__(self):
        return self._positive()

    def __neg__(self):
        return Counter({key: -n for key, n in self.items() if n < 0})

    def __iadd__(self, other):
        for key, n in other.items():
            self[key] += n
        return self._keep_positive()

    def __isub__(self, other):
        for key, n in other.items():
            self[key] -= n
        return self._keep_positive()

    def __ior__(self, other):
        for key, n in other.items():
            if n > self[key]:
                self[key] = n
        return self._keep_positive()

    def __iand__(self, other):
        for key, n in self.items():
            if other[key] < n:
                self[key] = other[key]
        return self._keep_positive()

    def __eq__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return all([self[key] == other[key] for each in (self, other) for key in each])

    def __ne__(self, other):
        return NotImplemented if not isinstance(other, Counter) else not self == other

    def __le__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return all([self[key] <= other[key] for each in (self, other) for key in each])

    def __lt__(self, other):
        return NotImplemented if not isinstance(other, Counter) else self <= other and self != other

    def __ge__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return all([self[key] >= other[key] for each in (self, other) for key in each])

    def __gt__(self, other):
        return NotImplemented if not isinstance(other, Counter) else self >= other and self != other

    def __repr__(self):
        if not self:
            return f"{self.__class__.__name__}()"
        try:
            shown = dict(self.most_common())
        except TypeError:
            shown = dict(self)
        return f"{self.__class__.__name__}({shown!r})"


class deque:
    """A list of which the first `_head` places are free: what is taken from the left is moved past,
    and the places go once they are half of the list."""

    __is_sequence__ = True

    __class_getitem__ = classmethod(GenericAlias)
    __hash__ = None

    def __init__(self, iterable=(), maxlen=None):
        if maxlen is not None:
            if not isinstance(maxlen, int):
                raise TypeError("an integer is required")
            if maxlen < 0:
                raise ValueError("maxlen must be non-negative")
        self._most = maxlen
        self._list = []
        self._head = 0
        self.extend(iterable)

    @property
    def maxlen(self):
        return self._most

    @property
    def _items(self):
        if self._head:
            del self._list[:self._head]
            self._head = 0
        return self._list

    def append(self, x):
        self._list.append(x)
        if self._most is not None and len(self) > self._most:
            self.popleft()

    def appendleft(self, x):
        if self._head == 0:
            room = len(self._list) + 8
            self._list[:0] = [None] * room
            self._head = room
        self._head -= 1
        self._list[self._head] = x
        if self._most is not None and len(self) > self._most:
            self._list.pop()

    def extend(self, iterable):
        for x in list(iterable) if iterable is self else iterable:
            self.append(x)

    def extendleft(self, iterable):
        for x in list(iterable) if iterable is self else iterable:
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

    def _search(self, value, start, stop):
        """Where the value is; None: nowhere. The deque must not change meanwhile."""
        items = self._items
        size = len(items)
        for i in range(start, min(stop, size)):
            if items[i] is value or items[i] == value:
                return i
            if self._items is not items or len(items) != size:
                raise RuntimeError("deque mutated during iteration")
        return None

    def remove(self, value):
        size = len(self)
        try:
            found = self._search(value, 0, size)
        except RuntimeError:
            raise IndexError("deque mutated during remove().") from None
        if found is None:
            raise ValueError("deque.remove(x): x not in deque")
        if len(self) != size:
            raise IndexError("deque mutated during remove().")
        del self._items[found]

    def insert(self, i, x):
        if self._most is not None and len(self._items) >= self._most:
            raise IndexError("deque already at its maximum size")
        self._items.insert(i, x)

    def index(self, x, start=0, stop=None):
        size = len(self)
        start, stop = start.__index__(), size if stop is None else stop.__index__()
        if start < 0:
            start = max(start + size, 0)
        found = self._search(x, start, stop + size if stop < 0 else stop)
        if found is None:
            raise ValueError(f"{x!r} is not in deque")
        return found

    def count(self, x):
        total, items, size = 0, self._items, len(self)
        for each in items[:]:
            total += each is x or bool(each == x)
            if len(self) != size:
                raise RuntimeError("deque mutated during iteration")
        return total

    def reverse(self):
        self._items.reverse()

    def copy(self):
        return type(self)(self) if self._most is None else type(self)(self, self._most)

    __copy__ = copy

    def __deepcopy__(self, memo):
        made = type(self)([]) if self._most is None else type(self)([], self._most)
        memo[id(self)] = made
        for each in self._items:
            made.append(_tidemark.deepcopy(each, memo))
        return made

    def __reduce__(self):
        own = {name: value for name, value in self.__dict__.items() if name not in ("_most", "_list", "_head")}
        return type(self), ((), self._most) if self._most is not None else (), own or None, iter(list(self._items))

    def __add__(self, other):
        if not isinstance(other, deque):
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        made = self.copy()
        made.extend(other)
        return made

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, n):
        made = self.copy()
        made *= n
        return made

    __rmul__ = __mul__

    def __imul__(self, n):
        items = self._items * n
        self._list = items if self._most is None else items[max(len(items) - self._most, 0):]
        return self

    def __eq__(self, other):
        return self._items == other._items if isinstance(other, deque) else NotImplemented

    def __ne__(self, other):
        return self._items != other._items if isinstance(other, deque) else NotImplemented

    def __lt__(self, other):
        return self._items < other._items if isinstance(other, deque) else NotImplemented

    def __le__(self, other):
        return self._items <= other._items if isinstance(other, deque) else NotImplemented

    def __gt__(self, other):
        return self._items > other._items if isinstance(other, deque) else NotImplemented

    def __ge__(self, other):
        return self._items >= other._items if isinstance(other, deque) else NotImplemented

    def __reversed__(self):
        return reversed(self._items)

    def __contains__(self, x):
        return self._search(x, 0, len(self)) is not None

    def __delitem__(self, i):
        try:
            del self._items[i if type(i) is int else self._place(i)]
        except IndexError:
            raise IndexError("deque index out of range") from None

    def __len__(self):
        return len(self._list) - self._head

    def __iter__(self):
        return iter(self._items)

    def _place(self, i):
        try:
            return i.__index__()
        except AttributeError:
            raise TypeError(f"sequence index must be integer, not '{type(i).__name__}'") from None

    def __getitem__(self, i):
        try:
            return self._items[i if type(i) is int else self._place(i)]
        except IndexError:
            raise IndexError("deque index out of range") from None

    def __setitem__(self, i, value):
        try:
            self._items[i if type(i) is int else self._place(i)] = value
        except IndexError:
            raise IndexError("deque index out of range") from None

    def __bool__(self):
        return len(self) > 0

    @recursive_repr("[...]")
    def __repr__(self):
        name = type(self).__name__
        return f"{name}({self._items!r})" if self._most is None else f"{name}({self._items!r}, maxlen={self._most})"
