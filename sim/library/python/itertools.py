class chain:
    def __init__(self, *iterables):
        self._items = _chained(iterables)

    @staticmethod
    def from_iterable(iterables):
        out = chain()
        out._items = _chained(iterables)
        return out

    def __iter__(self):
        return self._items

    def __next__(self):
        return next(self._items)


def _chained(iterables):
    for iterable in iterables:
        yield from iterable


def count(start=0, step=1):
    while True:
        yield start
        start += step


def cycle(iterable):
    saved = []
    for item in iterable:
        yield item
        saved.append(item)
    while saved:
        for item in saved:
            yield item


def repeat(object, times=None):
    if times is None:
        while True:
            yield object
    else:
        for _ in range(times):
            yield object


def accumulate(iterable, func=None, *, initial=None):
    total = initial
    first = initial is None
    if not first:
        yield total
    for item in iterable:
        if first:
            total = item
            first = False
        elif func is None:
            total = total + item
        else:
            total = func(total, item)
        yield total


def islice(iterable, *args):
    s = slice(*args)
    start = 0 if s.start is None else s.start
    step = 1 if s.step is None else s.step
    if start < 0 or step < 1 or (s.stop is not None and s.stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    at = 0
    wanted = start
    if s.stop is None or wanted < s.stop:
        for item in iterable:
            if at == wanted:
                yield item
                wanted += step
                if s.stop is not None and wanted >= s.stop:
                    break
            at += 1


def starmap(function, iterable):
    for args in iterable:
        yield function(*args)


def takewhile(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate, iterable):
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item


def filterfalse(predicate, iterable):
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def compress(data, selectors):
    for item, wanted in zip(data, selectors):
        if wanted:
            yield item


def pairwise(iterable):
    items = iter(iterable)
    missing = []
    before = next(items, missing)
    if before is not missing:
        for item in items:
            yield before, item
            before = item


def zip_longest(*iterables, fillvalue=None):
    iterators = [iter(i) for i in iterables]
    missing = []
    while iterators:
        items = [next(i, missing) for i in iterators]
        if all([i is missing for i in items]):
            break
        yield tuple([fillvalue if i is missing else i for i in items])


def product(*iterables, repeat=1):
    pools = [tuple(i) for i in iterables] * repeat
    out = [()]
    for pool in pools:
        out = [x + (y,) for x in out for y in pool]
    for item in out:
        yield item


def permutations(iterable, r=None):
    pool = tuple(iterable)
    r = len(pool) if r is None else r
    for indices in product(range(len(pool)), repeat=r):
        if len(set(indices)) == r:
            yield tuple([pool[i] for i in indices])


def combinations(iterable, r):
    pool = tuple(iterable)
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


def groupby(iterable, key=None):
    group = None
    current = None
    for item in iterable:
        k = item if key is None else key(item)
        if group is None or k != current:
            if group is not None:
                yield current, iter(group)
            group = []
            current = k
        group.append(item)
    if group is not None:
        yield current, iter(group)


def tee(iterable, n=2):
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)
    if not pool and r:
        return
    indices = [0] * r
    yield tuple([pool[i] for i in indices])
    while True:
        for i in reversed(range(r)):
            if indices[i] != len(pool) - 1:
                break
        else:
            return
        indices[i:] = [indices[i] + 1] * (r - i)
        yield tuple([pool[i] for i in indices])
