import _tidemark
from _abstract import Mapping
from typing import UnionType


class SimpleNamespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __repr__(self):
        return "namespace(" + ", ".join([f"{k}={v!r}" for k, v in self.__dict__.items()]) + ")"

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


def _function():
    pass


FunctionType = LambdaType = type(_function)
NoneType = type(None)
MethodType = type(SimpleNamespace().__repr__)
BuiltinFunctionType = type(len)
ModuleType = type(_tidemark)
GeneratorType = type((i for i in ()))


class GenericAlias:
    """of `list[int]`"""


class TracebackType:
    pass


FrameType = type(_tidemark.frame(0))


class CodeType:
    pass


class CellType:
    pass


class CoroutineType:
    pass


class AsyncGeneratorType:
    pass


MethodWrapperType = WrapperDescriptorType = MethodDescriptorType = ClassMethodDescriptorType = BuiltinFunctionType
BuiltinMethodType = BuiltinFunctionType
EllipsisType, NotImplementedType = type(...), type(NotImplemented)
GetSetDescriptorType = MemberDescriptorType = type(property())


def new_class(name, bases=(), kwds=None, exec_body=None):
    namespace = {}
    if exec_body is not None:
        exec_body(namespace)
    return type(name, bases, namespace, **(kwds or {}))


def coroutine(func):
    return func


class DynamicClassAttribute(property):
    """of instances; asked of a class, it is an attribute of the class's own class"""

    def __get__(self, instance, ownerclass=None):
        if instance is None:
            if getattr(self.fget, "__isabstractmethod__", False):
                return self
            raise AttributeError
        return super().__get__(instance, ownerclass)


class MappingProxyType(Mapping):
    def __init__(self, mapping):
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"mappingproxy({self._mapping!r})"
