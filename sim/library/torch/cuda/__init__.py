import torch
import torch._C as _C
from torch.cuda._legacy_types import (
    BFloat16Tensor, BoolTensor, ByteTensor, CharTensor, DoubleTensor, FloatTensor, HalfTensor,
    IntTensor, LongTensor, ShortTensor,
)
from torch.cuda.graphs import (
    CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing, make_graphed_callables,
)
from torch.cuda.memory import (
    MemPool, list_gpu_processes, memory_snapshot, memory_summary, set_per_process_memory_fraction,
    use_mem_pool,
)
from torch.cuda.random import (
    default_generators, get_rng_state, get_rng_state_all, initial_seed, seed, seed_all, set_rng_state,
    set_rng_state_all,
)
from torch.cuda.streams import (
    Event, ExternalStream, Stream, StreamContext, current_stream, default_stream, set_stream,
    stream,
)

_initialized = True  # what asks does so after the first tensor


class device:
    """makes a device the current one"""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.before = torch.cuda.current_device()
        if self.device is not None:
            torch.cuda.set_device(self.device)

    def __exit__(self, *error):
        torch.cuda.set_device(self.before)
        return False


class device_of(device):
    def __init__(self, obj):
        super().__init__(obj.device if obj.is_cuda else None)


class _CudaDeviceProperties:
    """what the driver says of a device"""

    def __init__(self, figures):
        (
            self.name,
            self.major,
            self.minor,
            self.total_memory,
            self.multi_processor_count,
            self.max_threads_per_multi_processor,
            self.shared_memory_per_multiprocessor,
            self.shared_memory_per_block_optin,
            self.L2_cache_size,
        ) = figures
        self.is_integrated, self.is_multi_gpu_board, self.warp_size, self.regs_per_multiprocessor = 0, 0, 32, 65536
        self.shared_memory_per_block, self.gcnArchName = 49152, self.name

    def __repr__(self):
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory // 1048576}MB, multi_processor_count={self.multi_processor_count})")

def _lazy_call(callable, **kwargs):
    callable()


def get_device_properties(device=None):
    return _CudaDeviceProperties(torch.cuda._device_figures(device))


def get_arch_list():
    return ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]


def get_gencode_flags():
    return ""


def utilization(device=None):
    return 0


memory_usage = temperature = power_draw = clock_rate = utilization


def set_sync_debug_mode(debug_mode):
    pass


def get_sync_debug_mode():
    return 0


def is_tf32_supported(including_emulation=True):
    return torch.cuda.get_device_capability()[0] >= 8


def current_blas_handle():
    _C.refuse(
        "torch.cuda.current_blas_handle() is not modelled",
        "leave it out: cuBLAS makes its handles when they are first needed",
    )


def cudart():
    _C.refuse("torch.cuda.cudart() is not modelled", "leave out calls of the CUDA runtime")


def check_error(res):
    pass
