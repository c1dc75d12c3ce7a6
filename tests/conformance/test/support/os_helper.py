import contextlib
import os
import unittest

TESTFN = TESTFN_ASCII = "@test_1_tmp"
TESTFN_UNICODE = TESTFN + "-\xe0\xf2"
FakePath = os.PathLike
skip_if_dac_override = skip_unless_working_chmod = skip_unless_symlink = unittest.skip("needs a file system")


def can_symlink():
    return False


def unlink(filename):
    try:
        os.unlink(filename)
    except OSError:
        pass


def rmtree(path):
    pass


@contextlib.contextmanager
def temp_dir(path=None, quiet=False):
    raise unittest.SkipTest("needs a file system")
    yield


temp_cwd = change_cwd = temp_dir


def create_empty_file(filename):
    with open(filename, "w"):
        pass


class EnvironmentVarGuard:
    def __enter__(self):
        self._before = dict(os.environ)
        return self

    def set(self, name, value):
        os.environ[name] = value

    def unset(self, name):
        os.environ.pop(name, None)

    __setitem__, __delitem__ = set, unset

    def __exit__(self, *error):
        os.environ.clear()
        os.environ.update(self._before)
