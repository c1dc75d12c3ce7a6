import torch._C as _C
from torch.multiprocessing import ProcessExitedException, ProcessRaisedException


class ProcessContext:
    """processes that were started: this rank's own has ended"""

    def __init__(self):
        self.processes = []

    def join(self, timeout=None, grace_period=None):
        return True

    def pids(self):
        return []


SpawnContext = ProcessContext


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """of the processes, that of the rank which is run, here"""
    job = _C.rank_in_job()
    fn((job[0] if job else 0) % nprocs, *args)
    return None if join else ProcessContext()
