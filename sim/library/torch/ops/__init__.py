"""operators of packages: a program's own (torch.library) and those declared as custom ops (docs/scenario.md); others
are refused at use"""
import _tidemark
from torch.library import find_operator

loaded_libraries = set()


def load_library(path):
    loaded_libraries.add(path)


def import_module(module):
    _tidemark.import_module(module)


class OpNamespace:
    """torch.ops.NAME of operators that a program has registered"""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, op_name):
        if op_name.startswith("__"):
            raise AttributeError(op_name)
        op = find_operator(self.name, op_name)
        return _tidemark.later(f"torch.ops.{self.name}.{op_name}") if op is None else op


def __getattr__(name):
    return OpNamespace(name)
