import _tidemark
from torch.multiprocessing.spawn import spawn

Process, Queue, Event, Lock, Manager, Pool, Value, Array, SimpleQueue = [
    _tidemark.later("torch.multiprocessing." + n)
    for n in ("Process", "Queue", "Event", "Lock", "Manager", "Pool", "Value", "Array", "SimpleQueue")
]
start_processes, get_context = [
    _tidemark.later("torch.multiprocessing." + n) for n in ("start_processes", "get_context")
]


class ProcessRaisedException(Exception):
    pass


class ProcessExitedException(Exception):
    pass


def set_start_method(method, force=False):
    pass


def get_start_method(allow_none=False):
    return "fork"


def get_all_start_methods():
    return ["fork", "spawn", "forkserver"]


def set_sharing_strategy(new_strategy):
    pass


def get_sharing_strategy():
    return "file_descriptor"
