import _tidemark
from _cache_info import CacheInfo as _CacheInfo
from _total_ordering import total_ordering
from abc import get_cache_token
from reprlib import recursive_repr
from types import GenericAlias, MappingProxyType, MethodType, UnionType
from typing import Union, get_type_hints

__all__ = [
    "update_wrapper", "wraps", "WRAPPER_ASSIGNMENTS", "WRAPPER_UPDATES", "total_ordering", "cache", "cmp_to_key",
    "lru_cache", "reduce", "partial", "partialmethod", "singledispatch", "singledispatchmethod", "cached_property",
]
WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")
WRAPPER_UPDATES = ("__dict__",)
_MISSING, _WORDS = object(), object()


class partial:
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, func, /, *args, **keywords):
        if not callable(func):
            raise TypeError("the first argument must be callable")
        if isinstance(func, partial) and type(func) is type(self):
            func, args, keywords = func.func, func.args + args, {**func.keywords, **keywords}
        self.func, self.args, self.keywords = func, args, keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    @recursive_repr()
    def __repr__(self):
        name = type(self).__qualname__
        if type(self).__module__ == "functools":
            name = f"functools.{name}"
        parts = [repr(self.func)] + [repr(each) for each in self.args]
        return f"{name}({', '.join(parts + [f'{key}={value!r}' for key, value in self.keywords.items()])})"

    def __reduce__(self):
        own = {name: value for name, value in self.__dict__.items() if name not in ("func", "args", "keywords")}
        return type(self), (self.func,), (self.func, self.args, self.keywords, own or None)

    def __setstate__(self, state):
        if not isinstance(state, tuple):
            raise TypeError("argument to __setstate__ must be a tuple")
        if len(state) != 4:
            raise TypeError(f"expected 4 items in state, got {len(state)}")
        func, args, keywords, own = state
        wrong = not callable(func) or not isinstance(args, tuple) or not isinstance(keywords, (dict, type(None)))
        if wrong or not isinstance(own, (dict, type(None))):
            raise TypeError("invalid partial state")
        keywords = {} if keywords is None else keywords if type(keywords) is dict else dict(keywords)
        self.func, self.args, self.keywords = func, args if type(args) is tuple else tuple(args), keywords
        self.__dict__.update(own or {})


class partialmethod:
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, func, /, *args, **keywords):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        if isinstance(func, partialmethod):
            func, args, keywords = func.func, func.args + args, {**func.keywords, **keywords}
        self.func, self.args, self.keywords = func, args, keywords

    def __repr__(self):
        parts = [repr(self.func)] + [repr(each) for each in self.args]
        parts += [f"{key}={value!r}" for key, value in self.keywords.items()]
        return f"{type(self).__module__}.{type(self).__qualname__}({', '.join(parts)})"

    @property
    def __isabstractmethod__(self):
        return getattr(self.func, "__isabstractmethod__", False)

    def __get__(self, obj, cls=None):
        if isinstance(self.func, (staticmethod, classmethod, partial)) or not isinstance(self.func, _function):
            own = getattr(self.func, "__get__", None)
            bound = self.func if own is None else own(obj, cls)
            if bound is not self.func:
                made = partial(bound, *self.args, **self.keywords)
                if hasattr(bound, "__self__"):
                    made.__self__ = bound.__self__
                return made

        def method(self_, /, *args, **keywords):
            return self.func(self_, *self.args, *args, **{**self.keywords, **keywords})

        method.__isabstractmethod__, method._partialmethod = self.__isabstractmethod__, self
        return method if obj is None else MethodType(method, obj)


_function = type(lambda: None)


def reduce(function, iterable, /, *initial):
    if len(initial) > 1:
        raise TypeError(f"reduce expected at most 3 arguments, got {2 + len(initial)}")
    items = iter(iterable)
    value = initial[0] if initial else next(items, _MISSING)
    if value is _MISSING:
        raise TypeError("reduce() of empty iterable with no initial value")
    for item in items:
        value = function(value, item)
    return value


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    for name in assigned:
        value = getattr(wrapped, name, _MISSING)
        if value is not _MISSING:
            setattr(wrapper, name, value)
    for name in updated:
        if name == "__dict__" and _tidemark.give_attributes(wrapped, wrapper):
            continue
        getattr(wrapper, name).update(getattr(wrapped, name, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    return lambda wrapper: update_wrapper(wrapper, wrapped, assigned, updated)


def _make_key(args, kwds, typed):
    key = args
    if kwds:
        key += (_WORDS,)
        for pair in kwds.items():
            key += pair
    if typed:
        key += tuple([type(each) for each in args]) + tuple([type(each) for each in kwds.values()])
    elif len(key) == 1 and type(key[0]) in (int, str):
        return key[0]
    return key


def _cached(function, maxsize, typed):
    results, counts = {}, [0, 0]

    def wrapper(*args, **kwargs):
        if maxsize == 0:
            counts[1] += 1
            return function(*args, **kwargs)
        key = _make_key(args, kwargs, typed)
        found = results.get(key, _MISSING)
        if found is not _MISSING:
            counts[0] += 1
            if maxsize is not None:
                results[key] = results.pop(key)
            return found
        counts[1] += 1
        value = function(*args, **kwargs)
        if key not in results:
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
    if isinstance(maxsize, int):
        maxsize = max(maxsize, 0)
    elif callable(maxsize) and isinstance(typed, bool):
        made = _cached(maxsize, 128, typed)
        made.cache_parameters = lambda: {"maxsize": 128, "typed": typed}
        return made
    elif maxsize is not None:
        raise TypeError("Expected first argument to be an integer, a callable, or None")
    return lambda function: _cached(function, maxsize, typed)


def cache(user_function, /):
    return _cached(user_function, None, False)


class cached_property:
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, func):
        self.func, self.attrname, self.__doc__ = func, None, func.__doc__

    def __set_name__(self, owner, name):
        if self.attrname is None:
            self.attrname = name
        elif name != self.attrname:
            raise TypeError(
                f"Cannot assign the same cached_property to two different names ({self.attrname!r} and {name!r})."
            )

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.attrname is None:
            raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
        try:
            cache = instance.__dict__
        except AttributeError:
            raise TypeError(
                f"No '__dict__' attribute on {type(instance).__name__!r} instance to cache {self.attrname!r} property."
            ) from None
        if self.attrname not in cache:
            value = self.func(instance)
            try:
                cache[self.attrname] = value
            except TypeError:
                raise TypeError(
                    f"The '__dict__' attribute on {type(instance).__name__!r} instance does not support item "
                    f"assignment for caching {self.attrname!r} property."
                ) from None
        return cache[self.attrname]


def _is_abstract_form(value):
    """whether it is one of collections.abc"""
    return hasattr(value, "register") and hasattr(value, "__subclasscheck__") and not hasattr(value, "__args__")


def _types_of(annotation):
    """The classes that an annotation names; nothing where it is no class."""
    if isinstance(annotation, type) or _is_abstract_form(annotation):
        return (annotation,)
    if isinstance(annotation, UnionType) or getattr(annotation, "__origin__", None) is Union:
        parts = annotation.__args__
        return parts if all([isinstance(part, type) for part in parts]) else ()
    return ()


def singledispatch(func):
    registry, found, token = {object: func}, {}, [None]

    def dispatch(cls):
        if token[0] != get_cache_token():
            token[0] = get_cache_token()
            found.clear()
        if cls not in found:
            found[cls] = _implementation(cls, registry)
        return found[cls]

    def register(cls, func=None):
        if func is None and not _types_of(cls):
            annotations = getattr(cls, "__annotations__", {})
            if not annotations:
                raise TypeError(
                    f"Invalid first argument to `register()`: {cls!r}. Use either `@register(some_class)` or plain "
                    "`@register` on an annotated function."
                )
            func, name = cls, next(iter(annotations))
            cls = get_type_hints(func)[name]
            if not _types_of(cls):
                kind = "not all arguments are classes" if hasattr(cls, "__args__") and not isinstance(
                    cls, GenericAlias) and getattr(cls, "__origin__", Union) is Union else "is not a class"
                raise TypeError(f"Invalid annotation for {name!r}. {cls!r} {kind}.")
        elif func is None:
            return lambda f: register(cls, f)
        kinds = _types_of(cls)
        if not kinds:
            raise TypeError(f"Invalid first argument to `register()`. {cls!r} is not a class or union type.")
        for kind in kinds:
            registry[kind] = func
        found.clear()
        return func

    def wrapper(*args, **kw):
        if not args:
            raise TypeError(f"{name} requires at least 1 positional argument")
        return dispatch(args[0].__class__)(*args, **kw)

    name = getattr(func, "__name__", "singledispatch function")
    wrapper.register, wrapper.dispatch, wrapper.registry = register, dispatch, MappingProxyType(registry)
    wrapper._clear_cache = found.clear
    return update_wrapper(wrapper, func)


def _implementation(cls, registry):
    """That of the nearest class: by the class's own order, abstract ones just behind what makes them count."""
    for place, base in enumerate(cls.__mro__):
        if base in registry and base is not object:
            return registry[base]
        after = cls.__mro__[place + 1] if place + 1 < len(cls.__mro__) else None
        counted = []
        for kind in registry:
            if kind is object or kind in cls.__mro__ or not issubclass(base, kind):
                continue
            if after is None or after is object or not issubclass(after, kind):
                counted.append(kind)
        nearest = [
            kind
            for kind in counted
            if not any([other is not kind and isinstance(other, type) and issubclass(other, kind) for other in counted])
        ]
        if len(nearest) > 1:
            first = [kind for kind in nearest if kind in cls.__mro__]
            if not first:
                raise RuntimeError(f"Ambiguous dispatch: {nearest[0]} or {nearest[1]}")
        if nearest:
            return registry[nearest[0]]
    return registry[object]


class singledispatchmethod:
    def __init__(self, func):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        self.dispatcher, self.func = singledispatch(func), func

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, func=method)

    @property
    def __isabstractmethod__(self):
        return getattr(self.func, "__isabstractmethod__", False)

    def __get__(self, obj, cls=None):
        dispatcher = self.dispatcher

        def method(*args, **kwargs):
            found = dispatcher.dispatch(args[0].__class__)
            if isinstance(found, _function):
                return found(obj, *args, **kwargs)
            return found.__get__(obj, cls)(*args, **kwargs)

        method.__isabstractmethod__ = self.__isabstractmethod__
        method.register = self.register
        return update_wrapper(method, self.func)


def cmp_to_key(mycmp):
    class K:
        __slots__ = ["obj"]

        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return mycmp(self.obj, other.obj) < 0

        def __gt__(self, other):
            return mycmp(self.obj, other.obj) > 0

        def __eq__(self, other):
            return mycmp(self.obj, other.obj) == 0

        def __le__(self, other):
            return mycmp(self.obj, other.obj) <= 0

        def __ge__(self, other):
            return mycmp(self.obj, other.obj) >= 0

        __hash__ = None

    return K
