import operator
from types import GenericAlias


class chain:
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, *iterables):
        self._items = _chained(iterables)

    @classmethod
    def from_iterable(cls, iterable):
        out = cls()
        out._items = _chained(iter(iterable))
        return out

    def __iter__(self):
        return self._items

    def __next__(self):
        return next(self._items)


def _chained(iterables):
    for iterable in iterables:
        yield from iterable


def _index(value, what):
    """A count that is not negative."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    value = value.__index__()
    if value < 0:
        raise ValueError(f"{what} must be non-negative")
    return value


def count(start=0, step=1):
    for each in (start, step):
        if isinstance(each, (str, bytes)) or not hasattr(each, "__add__"):
            raise TypeError("a number is required")
    return _counted(start, step)


def _counted(start, step):
    while True:
        yield start
        start += step


def cycle(iterable, /):
    return _cycled(iter(iterable))


def _cycled(items):
    saved = []
    for item in items:
        yield item
        saved.append(item)
    while saved:
        for item in saved:
            yield item


def repeat(object, times=None):
    if times is not None and not hasattr(times, "__index__"):
        raise TypeError(f"'{type(times).__name__}' object cannot be interpreted as an integer")
    return _repeated(object, times)


def _repeated(object, times):
    if times is None:
        while True:
            yield object
    else:
        for _ in range(times):
            yield object


def accumulate(iterable, func=None, *, initial=None):
    return _accumulated(iter(iterable), func or operator.add, initial)


def _accumulated(items, func, total):
    if total is None:
        for total in items:
            break
        else:
            return
    yield total
    for item in items:
        total = func(total, item)
        yield total


def islice(iterable, /, *args):
    if not 1 <= len(args) <= 3:
        raise TypeError(f"islice expected {'at most 4' if args else 'at least 2'} arguments, got {1 + len(args)}")
    bounds = slice(*args)
    start = 0 if bounds.start is None else bounds.start
    step = 1 if bounds.step is None else bounds.step
    stop = bounds.stop
    for value, name in ((start, "Indices"), (stop, "Stop argument")):
        if value is not None and (not hasattr(value, "__index__") or value.__index__() < 0):
            what = "Stop argument for islice()" if name != "Indices" and len(args) == 1 else "Indices for islice()"
            raise ValueError(f"{what} must be None or an integer: 0 <= x <= sys.maxsize.")
    if not hasattr(step, "__index__") or step.__index__() < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    return _sliced(iter(iterable), start.__index__(), None if stop is None else stop.__index__(), step.__index__())


def _pass_over(items, count):
    for _ in range(count):
        for _ in items:
            break
        else:
            return


def _sliced(items, start, stop, step):
    if stop is not None and start >= stop:
        return _pass_over(items, start)
    wanted = start
    for at, item in enumerate(items):
        if at != wanted:
            continue
        yield item
        wanted += step
        if stop is not None and wanted >= stop:
            # What lies up to the end is taken as well.
            return _pass_over(items, stop - at - 1)


def starmap(function, iterable, /):
    return _starred(function, iter(iterable))


def _starred(function, items):
    for args in items:
        yield function(*args)


def takewhile(predicate, iterable, /):
    return _taken(predicate, iter(iterable))


def _taken(predicate, items):
    for item in items:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate, iterable, /):
    return _dropped(predicate, iter(iterable))


def _dropped(predicate, items):
    for item in items:
        if not predicate(item):
            yield item
            yield from items
            return


def filterfalse(function, iterable, /):
    return _filtered(function, iter(iterable))


def _filtered(function, items):
    for item in items:
        if not (item if function is None else function(item)):
            yield item


def compress(data, selectors):
    return _compressed(iter(data), iter(selectors))


def _compressed(data, selectors):
    for item, wanted in zip(data, selectors):
        if wanted:
            yield item


def pairwise(iterable, /):
    return _paired(iter(iterable))


def _paired(items):
    missing = []
    before = next(items, missing)
    if before is not missing:
        for item in items:
            yield before, item
            before = item


def zip_longest(*iterables, fillvalue=None):
    return _zipped([iter(each) for each in iterables], fillvalue)


def _zipped(iterators, fillvalue):
    missing = []
    live = len(iterators)
    while live:
        items = []
        for place, each in enumerate(iterators):
            item = missing if each is None else next(each, missing)
            if item is missing:
                if each is not None:
                    live -= 1
                    iterators[place] = None
                    if not live:
                        return
                item = fillvalue
            items.append(item)
        yield tuple(items)


def product(*iterables, repeat=1):
    return _products([tuple(each) for each in iterables] * _index(repeat, "repeat argument"))


def _products(pools):
    if not all(pools):
        return
    places, items = [0] * len(pools), [pool[0] for pool in pools]
    while True:
        yield tuple(items)
        for i in range(len(pools) - 1, -1, -1):
            places[i] += 1
            if places[i] < len(pools[i]):
                items[i] = pools[i][places[i]]
                break
            places[i], items[i] = 0, pools[i][0]
        else:
            return


def permutations(iterable, r=None):
    pool = tuple(iterable)
    if r is not None and not isinstance(r, int):
        raise TypeError("Expected int as r")
    return _permuted(pool, len(pool) if r is None else _index(r, "r"))


def _permuted(pool, r):
    n = len(pool)
    if r > n:
        return
    indices, cycles = list(range(n)), list(range(n, n - r, -1))
    yield tuple([pool[i] for i in indices[:r]])
    while n:
        for i in range(r - 1, -1, -1):
            cycles[i] -= 1
            if cycles[i]:
                j = n - cycles[i]
                indices[i], indices[j] = indices[j], indices[i]
                yield tuple([pool[k] for k in indices[:r]])
                break
            indices[i:] = indices[i + 1:] + indices[i:i + 1]
            cycles[i] = n - i
        else:
            return


def combinations(iterable, r):
    return _combined(tuple(iterable), _index(r, "r"))


def _combined(pool, r):
    n = len(pool)
    if r > n:
        return
    indices = list(range(r))
    yield tuple([pool[i] for i in indices])
    while True:
        i = r - 1
        while i >= 0 and indices[i] == i + n - r:
            i -= 1
        if i < 0:
            return
        indices[i] += 1
        for j in range(i + 1, r):
            indices[j] = indices[j - 1] + 1
        yield tuple([pool[i] for i in indices])


def combinations_with_replacement(iterable, r):
    return _combined_again(tuple(iterable), _index(r, "r"))


def _combined_again(pool, r):
    if not pool and r:
        return
    indices = [0] * r
    yield tuple([pool[i] for i in indices])
    while True:
        for i in range(r - 1, -1, -1):
            if indices[i] != len(pool) - 1:
                break
        else:
            return
        indices[i:] = [indices[i] + 1] * (r - i)
        yield tuple([pool[i] for i in indices])


class groupby:
    """Runs of equal keys; a run can be read until the next one is asked for."""

    def __init__(self, iterable, key=None):
        self._items, self._key_of = iter(iterable), key
        self._item = self._key = self._id = None
        self._ahead, self._started = False, False

    def __iter__(self):
        return self

    def _step(self):
        item = next(self._items)
        self._item, self._next_key = item, item if self._key_of is None else self._key_of(item)
        self._ahead = True

    def __next__(self):
        self._id = own = object()
        if not self._ahead:
            self._step()
        while self._started and self._next_key == self._key:
            self._step()
        self._started, self._key = True, self._next_key
        return self._key, self._group(own, self._key)

    def _group(self, own, key):
        while self._id is own and (not self._ahead or self._next_key == key):
            if not self._ahead:
                try:
                    self._step()
                except StopIteration:
                    return
                continue
            self._ahead = False
            yield self._item


class _Tee:
    """One of several readers of an iterator. What all have read is dropped."""

    def __init__(self, items, link):
        self._items, self._link = items, link

    def __iter__(self):
        return self

    def __next__(self):
        link = self._link
        if not link[1]:
            link[0], link[1] = next(self._items), [None, None]
        self._link = link[1]
        return link[0]

    def __copy__(self):
        return _Tee(self._items, self._link)


def tee(iterable, n=2, /):
    if not isinstance(n, int):
        raise TypeError(f"'{type(n).__name__}' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError("n must be >= 0")
    if n == 0:
        return ()
    items = iterable if isinstance(iterable, _Tee) else _Tee(iter(iterable), [None, None])
    return (items, *[items.__copy__() for _ in range(n - 1)])
