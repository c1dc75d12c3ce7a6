dispatch_table = {}


def pickle(ob_type, pickle_function, constructor_ob=None):
    dispatch_table[ob_type] = pickle_function


def constructor(object):
    if not callable(object):
        raise TypeError("constructors must be callable")


def __newobj__(cls, *args):
    return cls.__new__(cls, *args)


def __newobj_ex__(cls, args, kwargs):
    return cls.__new__(cls, *args, **kwargs)


def _state(self):
    """object.__getstate__: attributes, and with slots a pair"""
    own = getattr(self, "__dict__", None)
    slots = {}
    for cls in type(self).__mro__:
        named = cls.__dict__.get("__slots__", ())
        for name in (named,) if isinstance(named, str) else named:
            if name not in ("__dict__", "__weakref__") and hasattr(self, name):
                slots[name] = getattr(self, name)
    return (own or None, slots) if slots else own or None


def _reduced(self, protocol):
    """object.__reduce_ex__"""
    cls = type(self)
    args = tuple(self.__getnewargs__()) if hasattr(cls, "__getnewargs__") else ()
    items = iter(self) if isinstance(self, list) else None
    pairs = iter(self.items()) if isinstance(self, dict) else None
    return (__newobj__, (cls, *args), self.__getstate__(), items, pairs)


def _reduced_plainly(self):
    """object.__reduce__; of a dict OrderedDict's"""
    if isinstance(self, dict):
        return (type(self), (), self.__getstate__(), None, iter(self.items()))
    return _reduced(self, 2)
