"""Enumerations whose members are names of a module."""

import _tidemark
import enum


def pickle_by_global_name(self, proto):
    return self.name


def pickle_by_enum_name(self, proto):
    return getattr, (self.__class__, self._name_)


_reduce_ex_by_global_name = pickle_by_global_name


def _module_name(self):
    return self.__class__.__module__.split(".")[-1]


def global_enum_repr(self):
    return f"{_module_name(self)}.{self._name_}"


def global_flag_repr(self):
    module = _module_name(self)
    if self._name_ is None:
        return f"{module}.{self.__class__.__name__}({self._value_!r})"
    if self._boundary_ is not enum.KEEP:
        return "|".join([f"{module}.{name}" for name in self._name_.split("|")])
    return "|".join([name if name[0].isdigit() else f"{module}.{name}" for name in self._name_.split("|")])


def global_str(self):
    return f"{self.__class__.__name__}({self._value_!r})" if self._name_ is None else self._name_


def global_enum(cls, update_str=False):
    cls.__repr__ = global_flag_repr if hasattr(cls, "_flag_mask_") else global_enum_repr
    if enum.ReprEnum not in cls.__mro__ or update_str:
        cls.__str__ = global_str
    put = _tidemark.modules()[cls.__module__]
    for name, each in cls.__members__.items():
        setattr(put, name, each)
    return cls
