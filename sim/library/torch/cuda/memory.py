import torch
import torch._C as _C
from torch.cuda import (
    empty_cache, host_memory_stats, max_memory_allocated, max_memory_cached, max_memory_reserved,
    mem_get_info, memory_allocated, memory_cached, memory_reserved, memory_stats,
    reset_accumulated_memory_stats, reset_max_memory_allocated, reset_max_memory_cached,
    reset_peak_memory_stats,
)
from torch.cuda import graphs
from torch.cuda.streams import _device_index


def _record_memory_history(enabled="all", *args, **kwargs):
    """every event is recorded anyway (`tidemark run --snapshot FILE` writes them): a mark says where"""
    _C.mark("memory history ends" if enabled is None or enabled is False else "memory history begins")


def _dump_snapshot(filename="dump_snapshot.pickle", augment_with_fx_traces=False):
    import _files

    _C.mark(f"memory snapshot: {filename}")
    _files.keep(filename, [None])


def _snapshot(device=None, augment_with_fx_traces=False):
    _C.refuse("torch.cuda.memory._snapshot() is not modelled in code", "run with --snapshot FILE")


def _set_allocator_settings(env):
    _C.refuse(
        f"torch.cuda.memory._set_allocator_settings({env!r}) is not modelled in code",
        f"give --set allocator.conf={env}",
    )


class MemPool:
    """a pool of the program's own. Source: aten/src/ATen/cuda/MemPool.cpp"""

    def __init__(self, allocator=None, use_on_oom=False, no_split=False, symmetric=False):
        if allocator is not None:
            _C.refuse("a MemPool with an allocator of its own is not modelled")
        self._id = graphs._new_pool(True)
        self.device = torch.cuda.current_device()
        self._users, self._is_routed = 1, False
        graphs._use_pool(graphs._CREATE, self._id, self.device)
        if use_on_oom:
            graphs._use_pool(graphs._SERVE_ON_OOM, self._id, self.device)
        if no_split:
            graphs._use_pool(graphs._NEVER_SPLIT, self._id, self.device)

    @property
    def id(self):
        return self._id

    def use_count(self):
        return self._users

    def snapshot(self, include_traces=True):
        return memory_snapshot(self._id)

    def __del__(self):
        for action in (graphs._SERVE_NO_OTHER, graphs._RELEASE, graphs._EMPTY_CACHE):
            graphs._use_pool(action, self._id, self.device)


class use_mem_pool:
    """what this thread asks for goes to the pool; what autograd's asks for does not"""

    def __init__(self, pool, device=None):
        self._pool, self._device = pool, _device_index(device)

    def __enter__(self):
        if self._pool._is_routed:
            raise RuntimeError("beginAllocateToPool: already recording to mempool_id")
        self._pool._is_routed = True
        graphs._use_pool(graphs._ROUTE, self._pool.id, self._device)
        self._pool._users += 1

    def __exit__(self, *error):
        graphs._use_pool(graphs._END_ROUTE, self._pool.id, self._device)
        graphs._use_pool(graphs._RELEASE, self._pool.id, self._device)
        self._pool._users -= 1
        self._pool._is_routed = False
        return False


def CUDAPluggableAllocator(*args, **kwargs):
    _C.refuse("another allocator than PyTorch's own is not modelled")


change_current_allocator = CUDAPluggableAllocator


def get_allocator_backend():
    return "native"


def caching_allocator_alloc(size, device=None, stream=None):
    _C.refuse("torch.cuda.caching_allocator_alloc() is not modelled in code", "make a tensor of so many bytes")


caching_allocator_delete = caching_allocator_alloc


def set_per_process_memory_fraction(fraction, device=None):
    _C.refuse(
        "torch.cuda.set_per_process_memory_fraction() is not modelled in code",
        "give the scenario's allocator.memory_fraction",
    )


def list_gpu_processes(device=None):
    return "GPU:0\nno processes are running"


def memory_snapshot(mempool_id=None):
    _C.refuse("torch.cuda.memory_snapshot() is not modelled in code", "run with --snapshot FILE")


# Source: the text that torch.cuda.memory_summary() of 2.11 returns, compared character by character.

WIDTH = 75
BYTES = (768 * 1024, 1024, ["B  ", "KiB", "MiB", "GiB", "TiB", "PiB"])
COUNTS = (750 * 1000, 1000, [" ", "K", "M"])
ROWS = [
    ("allocated_bytes", "Allocated memory", True),
    ("active_bytes", "Active memory", True),
    ("requested_bytes", "Requested memory", True),
    ("reserved_bytes", "GPU reserved memory", True),
    ("inactive_split_bytes", "Non-releasable memory", True),
    ("allocation", "Allocations", False),
    ("active", "Active allocs", False),
    ("segment", "GPU reserved segments", False),
    ("inactive_split", "Non-releasable allocs", False),
]
OVERSIZE = [("oversize_allocations", "Oversize allocations"), ("oversize_segments", "Oversize GPU segments")]


def cell(number, guide, is_bytes):
    """`number` in the unit that suits `guide`, cut and not rounded."""
    limit, factor, units = BYTES if is_bytes else COUNTS
    unit = 0
    while guide >= limit and unit + 1 < len(units):
        number //= factor
        guide /= factor
        unit += 1
    return f"{number:6d} {units[unit]}" if is_bytes else f"{number:7d} {units[unit]} "


def row(stats, key, name, guides, is_bytes):
    numbers = [stats[f"{key}.{part}"] for part in ("current", "peak", "allocated", "freed")]
    guides = guides or numbers
    cells = [cell(n, g, is_bytes) for n, g in zip(numbers, guides)]
    return f" {name:<21} | " + " | ".join(cells) + " ", numbers


def memory_summary(device=None, abbreviated=False):
    device = _device_index(device)
    stats = torch.cuda.memory_stats(device)
    heavy, light = "=" * WIDTH, "-" * WIDTH
    lines = [
        heavy,
        f" {'':16} PyTorch CUDA memory summary, device ID {device:<17d} ",
        light,
        f"  {'':9} CUDA OOMs: {stats['num_ooms']:<12d} | {'':6} cudaMalloc retries: {stats['num_alloc_retries']:<8d}  ",
        heavy,
        "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ",
    ]
    for key, name, is_bytes in ROWS:
        text, guides = row(stats, key + ".all", name, None, is_bytes)
        lines += [light, text]
        if not abbreviated:
            for pool in ("large", "small"):
                lines.append(row(stats, f"{key}.{pool}_pool", f"      from {pool} pool", guides, is_bytes)[0])
    for key, name in OVERSIZE:
        lines += [light, row(stats, key, name, None, False)[0]]
    lines.append(heavy)
    return "|" + "|\n|".join(lines) + "|\n"
