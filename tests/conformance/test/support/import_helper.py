import contextlib
import importlib
import sys
import unittest


def import_module(name, deprecated=False, *, required_on=()):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(str(error))


def import_fresh_module(name, fresh=(), blocked=(), deprecated=False):
    # There is one kind of each module here, which stands for both that CPython has.
    return importlib.import_module(name)


@contextlib.contextmanager
def frozen_modules(enabled=True):
    yield


def unload(name):
    sys.modules.pop(name, None)


class CleanImport:
    def __init__(self, *names):
        self._names = names

    def __enter__(self):
        self._before = dict(sys.modules)
        for name in self._names:
            sys.modules.pop(name, None)
        return self

    def __exit__(self, *error):
        sys.modules.update(self._before)


class DirsOnSysPath:
    def __init__(self, *paths):
        self._before = sys.path[:]
        sys.path.extend(paths)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        sys.path[:] = self._before
