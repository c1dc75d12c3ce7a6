import _tidemark

_NOTHING = object()


class Token:
    MISSING = _NOTHING

    def __init__(self, var, old_value):
        self.var, self.old_value = var, old_value


class ContextVar:
    """one thread runs, and one context"""

    def __init__(self, name, *, default=_NOTHING):
        self.name, self._default, self._value = name, default, _NOTHING

    @classmethod
    def __class_getitem__(cls, item):
        return cls

    def get(self, default=_NOTHING):
        for value in (self._value, default, self._default):
            if value is not _NOTHING:
                return value
        raise LookupError(self)

    def set(self, value):
        token = Token(self, self._value)
        self._value = value
        return token

    def reset(self, token):
        self._value = token.old_value


class Context:
    def run(self, callable, *args, **kwargs):
        return callable(*args, **kwargs)

    def copy(self):
        return self


def copy_context():
    return Context()
