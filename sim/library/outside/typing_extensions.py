from typing import *
import typing


def get_original_bases(cls):
    return cls.__dict__.get("__orig_bases__", cls.__bases__)


def deprecated(message, /, *, category=DeprecationWarning, stacklevel=1):
    def mark(what):
        what.__deprecated__ = message
        return what

    return mark


class Buffer:
    """what bytes, bytearray and memoryview have alike"""


class Sentinel:
    def __init__(self, name, repr=None):
        self._name, self._repr = name, repr or f"<{name}>"

    def __repr__(self):
        return self._repr


class TypeAliasType:
    def __init__(self, name, value, *, type_params=()):
        self.__name__, self.__value__, self.__type_params__ = name, value, type_params


class Doc:
    def __init__(self, documentation, /):
        self.documentation = documentation


def __getattr__(name):
    return getattr(typing, name)
