import _tidemark


class Parameter:
    empty = "<empty>"
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = range(5)

    def __init__(self, name):
        self.name = name

    def _later(self):
        _tidemark.refuse("what inspect.Parameter says beside its name is not modelled")

    default = annotation = kind = property(_later)


class Signature:
    empty = Parameter.empty

    def __init__(self, names):
        self.parameters = {name: Parameter(name) for name in names}


def signature(obj):
    return Signature(_tidemark.parameter_names(obj))


class _ArgSpec:
    def __init__(self, args):
        self.args = args


def getfullargspec(func):
    return _ArgSpec(_tidemark.parameter_names(func))


def isfunction(obj):
    return callable(obj) and not isinstance(obj, type)


def isclass(obj):
    return isinstance(obj, type)


def ismethod(object):
    return isinstance(object, type(Signature([]).__init__))


def isgeneratorfunction(obj):
    return False


def getmro(cls):
    return cls.__mro__


def getdoc(object):
    return None
