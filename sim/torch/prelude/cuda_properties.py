# module: torch.cuda
# defines: get_device_properties seed seed_all initial_seed get_rng_state set_rng_state get_rng_state_all set_rng_state_all is_current_stream_capturing get_arch_list get_gencode_flags utilization memory_usage temperature power_draw clock_rate set_sync_debug_mode get_sync_debug_mode is_tf32_supported current_blas_handle set_per_process_memory_fraction list_gpu_processes CUDAGraph graph make_graphed_callables cudart memory_snapshot check_error
import torch
import torch._C as _C


class _CudaDeviceProperties:
    """what the driver says of a device"""

    def __init__(self, figures):
        (self.name, self.major, self.minor, self.total_memory, self.multi_processor_count, self.max_threads_per_multi_processor,
         self.shared_memory_per_multiprocessor, self.shared_memory_per_block_optin, self.L2_cache_size) = figures
        self.is_integrated, self.is_multi_gpu_board, self.warp_size, self.regs_per_multiprocessor = 0, 0, 32, 65536
        self.shared_memory_per_block, self.gcnArchName = 49152, self.name

    def __repr__(self):
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory // 1048576}MB, multi_processor_count={self.multi_processor_count})")


def get_device_properties(device=None):
    return _CudaDeviceProperties(torch.cuda._device_figures(device))


def seed():
    pass


def seed_all():
    pass


def initial_seed():
    return 0


def get_rng_state(device="cuda"):
    return torch.empty(16, dtype=torch.uint8, device="cpu")


def set_rng_state(new_state, device="cuda"):
    pass


def get_rng_state_all():
    return [get_rng_state(i) for i in range(torch.cuda.device_count())]


def set_rng_state_all(new_states):
    pass


def is_current_stream_capturing():
    return False


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
    _C.refuse("torch.cuda.current_blas_handle() is not modelled", "leave it out: cuBLAS makes its handles when they are first needed")


def set_per_process_memory_fraction(fraction, device=None):
    _C.refuse("torch.cuda.set_per_process_memory_fraction() is not modelled in code", "give the scenario's allocator.memory_fraction")


def list_gpu_processes(device=None):
    return "GPU:0\nno processes are running"


def _no_graphs(*args, **kwargs):
    _C.refuse("CUDA graphs are not modelled", "run the code without capturing it")


CUDAGraph = graph = make_graphed_callables = _no_graphs


def cudart():
    _C.refuse("torch.cuda.cudart() is not modelled", "leave out calls of the CUDA runtime")


def memory_snapshot(mempool_id=None):
    _C.refuse("torch.cuda.memory_snapshot() is not modelled in code", "run with --snapshot FILE")


def check_error(res):
    pass
