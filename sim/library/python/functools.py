class partial:
    def __init__(self, func, /, *args, **keywords):
        if type(func) is partial:
            func, args, keywords = func.func, func.args + args, {**func.keywords, **keywords}
        self.func, self.args, self.keywords = func, args, keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func, self.args, self.keywords = func, args, keywords

    def __get__(self, obj, cls=None):
        if obj is None:
            return partial(self.func, *self.args, **self.keywords)
        return partial(self.func, obj, *self.args, **self.keywords)


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


WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")
WRAPPER_UPDATES = ("__dict__",)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    for name in assigned:
        if hasattr(wrapped, name):
            setattr(wrapper, name, getattr(wrapped, name))
    for name in updated:
        getattr(wrapper, name).update(getattr(wrapped, name, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    return lambda wrapper: update_wrapper(wrapper, wrapped, assigned, updated)


class _CacheInfo:
    def __init__(self, hits, misses, maxsize, currsize):
        self.hits, self.misses, self.maxsize, self.currsize = hits, misses, maxsize, currsize

    def __iter__(self):
        return iter((self.hits, self.misses, self.maxsize, self.currsize))

    def __repr__(self):
        return f"CacheInfo(hits={self.hits}, misses={self.misses}, maxsize={self.maxsize}, currsize={self.currsize})"


def _cached(function, maxsize, typed):
    results, counts = {}, [0, 0]

    def wrapper(*args, **kwargs):
        key = (args, tuple(kwargs.items()))
        if typed:
            key += (tuple([type(a) for a in args]), tuple([type(v) for v in kwargs.values()]))
        if key in results:
            counts[0] += 1
            if maxsize is not None:
                results[key] = results.pop(key)
            return results[key]
        counts[1] += 1
        value = function(*args, **kwargs)
        if maxsize != 0:
            results[key] = value
            if maxsize is not None and len(results) > maxsize:
                oldest = next(iter(results))
                result = results.pop(oldest)
                del oldest  # the arguments go before the result
                del result
        return value

    def cache_clear():
        counts[:] = [0, 0]
        results.clear()

    wrapper.cache_clear = cache_clear
    wrapper.cache_info = lambda: _CacheInfo(counts[0], counts[1], maxsize, len(results))
    wrapper.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
    return update_wrapper(wrapper, function)


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _cached(maxsize, 128, typed)
    if maxsize is not None and maxsize < 0:
        maxsize = 0
    return lambda function: _cached(function, maxsize, typed)


def cache(user_function, /):
    return _cached(user_function, None, False)


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
