import _tidemark
from multiprocessing import get_all_start_methods, get_start_method, set_start_method
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


def set_sharing_strategy(new_strategy):
    pass


def get_sharing_strategy():
    return "file_descriptor"
