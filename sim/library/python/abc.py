_registered = []


class ABCMeta(type):
    """classes that say themselves what counts as one of them: by __subclasshook__, or registered"""

    def register(cls, subclass):
        _registered.append((cls, subclass))
        return subclass

    def __subclasscheck__(cls, subclass):
        hook = getattr(cls, "__subclasshook__", None)
        said = NotImplemented if hook is None else hook(subclass)
        if said is not NotImplemented:
            return said
        if cls in subclass.__mro__:
            return True
        return any([cls in base.__mro__ and issubclass(subclass, other) for base, other in _registered])

    def __instancecheck__(cls, instance):
        return cls.__subclasscheck__(type(instance)) or cls.__subclasscheck__(instance.__class__)


class ABC(metaclass=ABCMeta):
    pass


def abstractmethod(funcobj):
    return funcobj


def abstractproperty(fget):
    return property(fget)


abstractclassmethod, abstractstaticmethod = classmethod, staticmethod
