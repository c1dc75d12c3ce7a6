from _abstract import ItemsView, KeysView, ValuesView
from types import GenericAlias

_NOTHING = object()


class Token:
    MISSING = _NOTHING
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, var, old_value, context):
        self.var, self.old_value, self._context, self._used = var, old_value, context, False


class ContextVar:
    """its value lies in the context that runs"""

    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, name, *, default=_NOTHING):
        self.name, self._default = name, default

    def get(self, default=_NOTHING):
        for value in (_running[-1]._values.get(self, _NOTHING), default, self._default):
            if value is not _NOTHING:
                return value
        raise LookupError(self)

    def set(self, value):
        values = _running[-1]._values
        token = Token(self, values.get(self, _NOTHING), _running[-1])
        values[self] = value
        return token

    def reset(self, token):
        if not isinstance(token, Token):
            raise TypeError(f"expected an instance of Token, got {token!r}")
        if token._used:
            raise RuntimeError(f"{token!r} has already been used once")
        if token.var is not self:
            raise ValueError(f"{token!r} was created by a different ContextVar")
        if token._context is not _running[-1]:
            raise ValueError(f"{token!r} was created in a different Context")
        token._used = True
        if token.old_value is _NOTHING:
            _running[-1]._values.pop(self, None)
        else:
            _running[-1]._values[self] = token.old_value


class Context:
    """a mapping of variables to what is set of them"""

    def __init__(self):
        self._values = {}

    def run(self, callable, *args, **kwargs):
        if any([each is self for each in _running]):
            raise RuntimeError(f"cannot enter context: {self!r} is already entered")
        _running.append(self)
        try:
            return callable(*args, **kwargs)
        finally:
            _running.pop()

    def copy(self):
        made = Context()
        made._values.update(self._values)
        return made

    def get(self, key, default=None):
        return self._values.get(key, default)

    def __getitem__(self, key):
        return self._values[key]

    def __contains__(self, key):
        return key in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __eq__(self, other):
        return isinstance(other, Context) and self._values == other._values

    def keys(self):
        return KeysView(self)

    def values(self):
        return ValuesView(self)

    def items(self):
        return ItemsView(self)


_running = [Context()]


def copy_context():
    return _running[-1].copy()
