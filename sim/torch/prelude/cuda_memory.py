# module: torch.cuda.memory
# defines: empty_cache memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached max_memory_cached memory_stats memory_summary memory_snapshot reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached reset_accumulated_memory_stats mem_get_info host_memory_stats list_gpu_processes set_per_process_memory_fraction _record_memory_history _dump_snapshot _snapshot _set_allocator_settings MemPool use_mem_pool CUDAPluggableAllocator change_current_allocator get_allocator_backend caching_allocator_alloc caching_allocator_delete
import torch._C as _C
from torch.cuda import empty_cache, memory_allocated, max_memory_allocated, memory_reserved, max_memory_reserved, memory_cached, max_memory_cached
from torch.cuda import memory_stats, memory_summary, memory_snapshot, reset_peak_memory_stats, reset_max_memory_allocated, reset_max_memory_cached
from torch.cuda import reset_accumulated_memory_stats, mem_get_info, host_memory_stats, list_gpu_processes, set_per_process_memory_fraction


def _record_memory_history(enabled="all", *args, **kwargs):
    """every event is recorded anyway: `tidemark run --snapshot FILE` writes them"""


def _dump_snapshot(filename="dump_snapshot.pickle", augment_with_fx_traces=False):
    import _files

    _files.keep(filename, [None])


def _snapshot(device=None, augment_with_fx_traces=False):
    _C.refuse("torch.cuda.memory._snapshot() is not modelled in code", "run with --snapshot FILE")


def _set_allocator_settings(env):
    _C.refuse(f"torch.cuda.memory._set_allocator_settings({env!r}) is not modelled in code", f"give --set allocator.conf={env}")


def MemPool(*args, **kwargs):
    _C.refuse("torch.cuda.MemPool is not modelled in code", "traces have private pools (docs/formats)")


use_mem_pool = MemPool


def CUDAPluggableAllocator(*args, **kwargs):
    _C.refuse("another allocator than PyTorch's own is not modelled")


change_current_allocator = CUDAPluggableAllocator


def get_allocator_backend():
    return "native"


def caching_allocator_alloc(size, device=None, stream=None):
    _C.refuse("torch.cuda.caching_allocator_alloc() is not modelled in code", "make a tensor of so many bytes")


caching_allocator_delete = caching_allocator_alloc
