import contextlib
import unittest

can_start_thread = False


def requires_working_threading(*, module=False):
    return unittest.skip("needs threads")


def reap_threads(test):
    return test


def threading_setup():
    return ()


def threading_cleanup(*before):
    pass


def join_thread(thread, timeout=None):
    pass


@contextlib.contextmanager
def start_threads(threads, unlock=None):
    raise unittest.SkipTest("needs threads")
    yield


wait_threads_exit = contextlib.nullcontext
