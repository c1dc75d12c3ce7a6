import _tidemark
from collections.abc import MutableMapping, MutableSet


class ReferenceType:
    """refers to an object and does not keep it"""

    def __init__(self, object, callback=None):
        self._get, self.__callback__ = _tidemark.weak_reference(object), callback
        if callback is not None:
            own = _tidemark.weak_reference(self)
            _at_death(object, lambda: None if own() is None else callback(own()))

    @classmethod
    def __class_getitem__(cls, item):
        return cls

    def __call__(self):
        return self._get()

    def __eq__(self, other):
        mine, its = self(), other() if isinstance(other, ReferenceType) else None
        return self is other if mine is None or its is None else mine == its

    def __hash__(self):
        return hash(self())


ref = ReferenceType


class WeakMethod(ReferenceType):
    def __init__(self, meth, callback=None):
        self._object, self._function = ReferenceType(meth.__self__), meth.__func__

    def __call__(self):
        owner = self._object()
        return None if owner is None else getattr(owner, self._function.__name__)


def proxy(object, callback=None):
    return _Proxy(object)


class _Proxy:
    def __init__(self, object):
        self.__dict__["_reference"] = ReferenceType(object)

    def _target(self):
        found = self.__dict__["_reference"]()
        if found is None:
            raise ReferenceError("weakly-referenced object no longer exists")
        return found

    def __getattr__(self, name):
        return getattr(self._target(), name)

    def __setattr__(self, name, value):
        setattr(self._target(), name, value)

    def __call__(self, *args, **kwargs):
        return self._target()(*args, **kwargs)


ProxyType = CallableProxyType = _Proxy


class WeakKeyDictionary(MutableMapping):
    def __init__(self, dict=None):
        self._items = {}
        if dict is not None:
            self.update(dict)

    def _living(self):
        for key, (reference, _) in list(self._items.items()):
            if reference() is None:
                del self._items[key]
        return self._items

    def __getitem__(self, key):
        found = self._living().get(id(key))
        if found is None:
            raise KeyError(key)
        return found[1]

    def __setitem__(self, key, value):
        self._items[id(key)] = (ReferenceType(key), value)

    def __delitem__(self, key):
        if id(key) not in self._living():
            raise KeyError(key)
        del self._items[id(key)]

    def __contains__(self, key):
        return id(key) in self._living()

    def __iter__(self):
        return iter([reference() for reference, _ in self._living().values()])

    def __len__(self):
        return len(self._living())


class WeakValueDictionary(MutableMapping):
    def __init__(self, other=(), /, **kw):
        self._items = {}
        self.update(other, **kw)

    def _living(self):
        for key, reference in list(self._items.items()):
            if reference() is None:
                del self._items[key]
        return self._items

    def __getitem__(self, key):
        return self._living()[key]()

    def __setitem__(self, key, value):
        self._items[key] = ReferenceType(value)

    def __delitem__(self, key):
        del self._living()[key]

    def __contains__(self, key):
        return key in self._living()

    def __iter__(self):
        return iter(list(self._living()))

    def __len__(self):
        return len(self._living())


class WeakSet(MutableSet):
    def __init__(self, data=None):
        self._items = WeakKeyDictionary()
        for item in data or ():
            self.add(item)

    def add(self, item):
        self._items[item] = True

    def discard(self, item):
        if item in self._items:
            del self._items[item]

    def __contains__(self, item):
        return item in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)


class _Death:
    """dies with the object among whose attributes it is"""

    def __init__(self, call):
        self._call = call

    def __del__(self):
        for call in self._call:
            call()

    def __deepcopy__(self, memo):
        return None

    __copy__ = __reduce__ = None


def _at_death(object, call):
    found = getattr(object, "__dict__", None)
    if found is None:
        return  # what has no attributes lives as long as the run
    if not isinstance(found.get("<death>"), _Death):
        found["<death>"] = _Death([])
    found["<death>"]._call.append(call)


class finalize:
    """calls when the object dies; what is alive at the end of the program is left alone"""

    atexit = True

    def __init__(self, obj, func, *args, **kwargs):
        self._object, self._said = ReferenceType(obj), (func, args, kwargs)
        _at_death(obj, self.__call__)

    def __call__(self, _=None):
        if self._said is not None:
            (func, args, kwargs), self._said = self._said, None
            return func(*args, **kwargs)

    @property
    def alive(self):
        return self._said is not None

    def peek(self):
        return None if self._said is None else (self._object(), *self._said)

    def detach(self):
        found, self._said = self.peek(), None
        return found
