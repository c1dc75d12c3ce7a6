"""collections.defaultdict"""

import _tidemark

defaultdict = _tidemark.dict_type("defaultdict")


def _default(cls, default_factory=None, items=(), /, **kwargs):
    if default_factory is not None and not callable(default_factory):
        raise TypeError("first argument must be callable or None")
    out = _tidemark.make_dict(cls, default_factory, items)
    out.update(kwargs)
    return out


def _start_default(self, default_factory=None, items=(), /, **kwargs):
    _tidemark.set_factory(self, default_factory)
    dict.__init__(self, items, **kwargs)


def _missing(self, key):
    factory = _tidemark.factory_of(self)
    if factory is None:
        raise KeyError(key)
    self[key] = value = factory()
    return value


def _copied(self):
    return type(self)(_tidemark.factory_of(self), self)


def _merged(self, other):
    if not isinstance(other, dict):
        return NotImplemented
    made = _copied(self)
    made.update(other)
    return made


def _merged_into(self, other):
    if not isinstance(other, dict):
        return NotImplemented
    made = type(self)(_tidemark.factory_of(self), other)
    made.update(self)
    return made


def _reduced(self):
    factory = _tidemark.factory_of(self)
    return type(self), () if factory is None else (factory,), None, None, iter(list(self.items()))


_tidemark.set_construct(defaultdict, _default)
for _name, _method in (
    ("__init__", _start_default),
    ("__missing__", _missing),
    ("copy", _copied),
    ("__copy__", _copied),
    ("__or__", _merged),
    ("__ror__", _merged_into),
    ("__reduce__", _reduced),
    ("default_factory", property(_tidemark.factory_of, _tidemark.set_factory)),
):
    _tidemark.set_method(defaultdict, _name, _method)
