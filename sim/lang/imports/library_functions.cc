#include <array>

#include "sim/lang/imports/library_code.h"

namespace tidemark::lang {

namespace {

constexpr std::string_view kItertools = R"py(
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
)py";

constexpr std::string_view kFunctools = R"py(
class partial:
    def __init__(self, func, /, *args, **keywords):
        self.func, self.args, self.keywords = func, args, keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})


def reduce(function, iterable, *initial):
    items = iter(iterable)
    if initial:
        value = initial[0]
    else:
        missing = []
        value = next(items, missing)
        if value is missing:
            raise TypeError("reduce() of empty iterable with no initial value")
    for item in items:
        value = function(value, item)
    return value


def update_wrapper(wrapper, wrapped, assigned=(), updated=()):
    for name in ("__name__", "__qualname__"):
        if hasattr(wrapped, name):
            setattr(wrapper, name, getattr(wrapped, name))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=(), updated=()):
    def decorate(wrapper):
        return update_wrapper(wrapper, wrapped)

    return decorate


def _cached(function):
    results = {}

    def wrapper(*args, **kwargs):
        key = (args, tuple(kwargs.items()))
        if key not in results:
            results[key] = function(*args, **kwargs)
        return results[key]

    wrapper.cache_clear = results.clear
    return update_wrapper(wrapper, function)


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _cached(maxsize)
    return _cached


cache = _cached


class cached_property:
    def __init__(self, func):
        self.func, self.attrname = func, None

    def __set_name__(self, owner, name):
        self.attrname = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        cache = instance.__dict__
        if self.attrname not in cache:
            cache[self.attrname] = self.func(instance)
        return cache[self.attrname]


def total_ordering(cls):
    if hasattr(cls, "__lt__"):
        cls.__gt__ = lambda self, other: not (self < other or self == other)
        cls.__le__ = lambda self, other: self < other or self == other
        cls.__ge__ = lambda self, other: not self < other
    elif hasattr(cls, "__gt__"):
        cls.__lt__ = lambda self, other: not (self > other or self == other)
        cls.__ge__ = lambda self, other: self > other or self == other
        cls.__le__ = lambda self, other: not self > other
    else:
        raise ValueError("must define at least one ordering operation: < or >")
    return cls


def singledispatch(func):
    registry = {object: func}

    def dispatch(cls):
        for base in cls.__mro__:
            if base in registry:
                return registry[base]

    def register(cls, func=None):
        if not isinstance(cls, type):
            raise TypeError("register() needs a class: annotations of parameters are not kept")
        if func is None:
            return lambda f: register(cls, f)
        registry[cls] = func
        return func

    def wrapper(*args, **kw):
        if not args:
            raise TypeError(f"{func.__name__} requires at least 1 positional argument")
        return dispatch(args[0].__class__)(*args, **kw)

    wrapper.register, wrapper.dispatch, wrapper.registry = register, dispatch, registry
    return update_wrapper(wrapper, func)


class singledispatchmethod:
    def __init__(self, func):
        self.dispatcher = singledispatch(func)

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, method)

    def __get__(self, obj, cls=None):
        def method(*args, **kwargs):
            return self.dispatcher.dispatch(args[0].__class__)(obj, *args, **kwargs)

        return method


def cmp_to_key(mycmp):
    class K:
        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return mycmp(self.obj, other.obj) < 0

    return K
)py";

constexpr std::string_view kOperator = R"py(
def itemgetter(*items):
    if len(items) == 1:
        return lambda obj: obj[items[0]]
    return lambda obj: tuple([obj[i] for i in items])


def attrgetter(*names):
    def get(obj, name):
        for part in name.split("."):
            obj = getattr(obj, part)
        return obj

    if len(names) == 1:
        return lambda obj: get(obj, names[0])
    return lambda obj: tuple([get(obj, n) for n in names])


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def truediv(a, b):
    return a / b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def neg(a):
    return -a


def matmul(a, b):
    return a @ b


def getitem(a, b):
    return a[b]


def eq(a, b):
    return a == b


def ne(a, b):
    return a != b


def lt(a, b):
    return a < b


def le(a, b):
    return a <= b


def gt(a, b):
    return a > b


def ge(a, b):
    return a >= b
)py";

constexpr std::array kFiles = std::to_array<LibraryFile>({
    {"itertools", kItertools},
    {"functools", kFunctools},
    {"operator", kOperator},
});

}  // namespace

std::span<const LibraryFile> library_function_files() { return kFiles; }

}  // namespace tidemark::lang
