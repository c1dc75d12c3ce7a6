import _tidemark
import os
from multiprocessing.pool import Pool


class ProcessError(Exception):
    pass


class TimeoutError(ProcessError):
    pass


def cpu_count():
    return os.cpu_count()


def freeze_support():
    pass


def set_start_method(method, force=False):
    pass


def get_start_method(allow_none=False):
    return "fork"


def get_all_start_methods():
    return ["fork", "spawn", "forkserver"]


def active_children():
    return []


class _Main:
    name, daemon, pid, exitcode = "MainProcess", False, os.getpid(), None


_main = _Main()


def current_process():
    return _main


def parent_process():
    return None


def __getattr__(name):
    return _tidemark.later("multiprocessing." + name)
