import _tidemark
import torch
import torch._C as _C
from multiprocessing import get_all_start_methods, get_context, get_start_method, set_start_method
from multiprocessing._processes import Process, _choosers
from torch.multiprocessing.spawn import spawn

Queue, Event, Lock, Manager, Pool, Value, Array, SimpleQueue = [
    _tidemark.later("torch.multiprocessing." + n)
    for n in ("Queue", "Event", "Lock", "Manager", "Pool", "Value", "Array", "SimpleQueue")
]
Pipe, start_processes = [_tidemark.later("torch.multiprocessing." + n) for n in ("Pipe", "start_processes")]


def _is_own(index):
    """whether a process is this rank's: those that a rank itself starts are none"""
    job = _C.rank_in_job()
    return job is not None and job[0] == index and not torch.distributed.is_initialized()


_choosers.append(_is_own)


class ProcessRaisedException(Exception):
    pass


class ProcessExitedException(Exception):
    pass


def set_sharing_strategy(new_strategy):
    pass


def get_sharing_strategy():
    return "file_descriptor"
