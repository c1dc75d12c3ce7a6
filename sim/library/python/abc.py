import _tidemark

_registered = []


def _is_abstract(value):
    if getattr(value, "__isabstractmethod__", False):
        return True
    if isinstance(value, property):
        return any([_is_abstract(getattr(value, each, None)) for each in ("fget", "fset", "fdel")])
    return isinstance(value, (classmethod, staticmethod)) and _is_abstract(value.__func__)


def _abstract_names(cls):
    """Names that the class does not define as anything that can be called."""
    names = [name for name, value in list(cls.__dict__.items()) if _is_abstract(value)]
    for base in cls.__bases__:
        for name in getattr(base, "__abstractmethods__", ()):
            if name not in names and _is_abstract(getattr(cls, name, None)):
                names.append(name)
    return frozenset(names)


def _made(cls, args, kwargs):
    """as a class that never had abstract methods"""
    self = object.__new__(cls) if cls.__new__ is object.__new__ else cls.__new__(cls, *args, **kwargs)
    if isinstance(self, cls):
        self.__init__(*args, **kwargs)
    return self


def _refused(cls, /, *args, **kwargs):
    names = sorted(cls.__abstractmethods__)
    if not names:
        return _made(cls, args, kwargs)
    plural = "s" if len(names) > 1 else ""
    raise TypeError(
        f"Can't instantiate abstract class {cls.__name__} with abstract method{plural} {', '.join(names)}"
    )


class ABCMeta(type):
    """classes that say themselves what counts as one of them: by __subclasshook__, or registered"""

    def __new__(mcls, name, bases, namespace, /, **kwargs):
        cls = super().__new__(mcls, name, bases, namespace, **kwargs)
        cls.__abstractmethods__ = names = _abstract_names(cls)
        if names:
            _tidemark.set_construct(cls, _refused)
        return cls

    def register(cls, subclass):
        if not isinstance(subclass, type):
            raise TypeError("Can only register classes")
        if issubclass(subclass, cls):
            return subclass
        if issubclass(cls, subclass):
            raise RuntimeError("Refusing to create an inheritance cycle")
        _registered.append((cls, subclass))
        return subclass

    def __subclasscheck__(cls, subclass):
        if not isinstance(subclass, type):
            raise TypeError("issubclass() arg 1 must be a class")
        hook = getattr(cls, "__subclasshook__", None)
        said = NotImplemented if hook is None else hook(subclass)
        if said is not NotImplemented:
            return said
        if cls in subclass.__mro__:
            return True
        return any([cls in base.__mro__ and issubclass(subclass, other) for base, other in _registered])

    def __instancecheck__(cls, instance):
        kind = type(instance)
        return cls.__subclasscheck__(kind) or (
            instance.__class__ is not kind and cls.__subclasscheck__(instance.__class__)
        )


class ABC(metaclass=ABCMeta):
    __slots__ = ()


def abstractmethod(funcobj):
    funcobj.__isabstractmethod__ = True
    return funcobj


class abstractproperty(property):
    __isabstractmethod__ = True


class abstractclassmethod(classmethod):
    __isabstractmethod__ = True

    def __init__(self, callable):
        callable.__isabstractmethod__ = True
        super().__init__(callable)


class abstractstaticmethod(staticmethod):
    __isabstractmethod__ = True

    def __init__(self, callable):
        callable.__isabstractmethod__ = True
        super().__init__(callable)


def get_cache_token():
    return len(_registered)


def update_abstractmethods(cls):
    if hasattr(cls, "__abstractmethods__"):
        cls.__abstractmethods__ = names = _abstract_names(cls)
        if names:
            _tidemark.set_construct(cls, _refused)
    return cls
