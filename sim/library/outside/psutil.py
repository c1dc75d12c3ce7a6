"""The machine that a run is on: nothing of it is looked at, so it is one with room."""
import _tidemark
from collections import namedtuple

_HOST_MEMORY = 1 << 40
svmem = namedtuple("svmem", ["total", "available", "percent", "used", "free"])
sswap = namedtuple("sswap", ["total", "used", "free", "percent", "sin", "sout"])
pmem = namedtuple("pmem", ["rss", "vms", "shared"])


class Error(Exception):
    pass


class NoSuchProcess(Error):
    pass


class AccessDenied(Error):
    pass


def virtual_memory():
    _tidemark.note("the host is taken to have 1 TiB of free memory")
    return svmem(_HOST_MEMORY, _HOST_MEMORY, 0.0, 0, _HOST_MEMORY)


def swap_memory():
    return sswap(0, 0, 0, 0.0, 0, 0)


def cpu_count(logical=True):
    from os import cpu_count as count

    return count()


def cpu_percent(interval=None, percpu=False):
    return [0.0] * cpu_count() if percpu else 0.0


class Process:
    def __init__(self, pid=None):
        self.pid = pid

    def memory_info(self):
        return pmem(0, 0, 0)

    memory_full_info = memory_info

    def memory_percent(self):
        return 0.0

    def cpu_percent(self, interval=None):
        return 0.0

    def children(self, recursive=False):
        return []

    def cpu_affinity(self, cpus=None):
        return list(range(cpu_count()))

    def nice(self, value=None):
        return 0

    def is_running(self):
        return True


def pid_exists(pid):
    return False


def __getattr__(name):
    return _tidemark.later("psutil." + name)
