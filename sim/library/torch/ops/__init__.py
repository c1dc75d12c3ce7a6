"""operators of packages: those declared as custom ops are here (docs/scenario.md), others are refused at use"""
import _tidemark

loaded_libraries = set()


def load_library(path):
    loaded_libraries.add(path)


def import_module(module):
    _tidemark.import_module(module)


def __getattr__(name):
    return _tidemark.later("torch.ops." + name)
