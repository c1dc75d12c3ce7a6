class ABC:
    pass


ABCMeta = type


def abstractmethod(funcobj):
    return funcobj


def abstractproperty(fget):
    return property(fget)


abstractclassmethod, abstractstaticmethod = classmethod, staticmethod
