import _tidemark
import os
from multiprocessing.pool import Pool
from multiprocessing._processes import Process


class ProcessError(Exception):
    pass


class TimeoutError(ProcessError):
    pass


def cpu_count():
    return os.cpu_count()


def freeze_support():
    pass


_chosen = []  # the method that the program has set


def set_start_method(method, force=False):
    if _chosen and not force:
        raise RuntimeError("context has already been set")
    if method is not None and method not in get_all_start_methods():
        raise ValueError(f"cannot find context for {method!r}")
    _chosen[:] = [] if method is None else [method]


def get_start_method(allow_none=False):
    if not _chosen:
        if allow_none:
            return None
        _chosen.append("fork")
    return _chosen[0]


def get_all_start_methods():
    return ["fork", "spawn", "forkserver"]


def active_children():
    return []


class _Context:
    """what get_context() gives: the module's own functions"""

    Process, Pool, cpu_count = Process, Pool, staticmethod(cpu_count)

    def __init__(self, method):
        self._method = method

    def get_start_method(self, allow_none=False):
        return self._method

    def __getattr__(self, name):
        return _tidemark.later("multiprocessing." + name)


def get_context(method=None):
    if method is not None and method not in get_all_start_methods():
        raise ValueError(f"cannot find context for {method!r}")
    return _Context(method or get_start_method())


class _Main:
    name, daemon, pid, ident, exitcode = "MainProcess", False, os.getpid(), os.getpid(), None


_main = _Main()


def current_process():
    return _main


def parent_process():
    return None


def __getattr__(name):
    return _tidemark.later("multiprocessing." + name)
