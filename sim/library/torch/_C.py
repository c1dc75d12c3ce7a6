"""what libraries take of torch._C beside what C++ gives"""


def _log_api_usage_once(event):
    pass


_log_api_usage_metadata = _log_api_usage_once


def _get_cudnn_enabled():
    return True


def _jit_set_profiling_executor(mode):
    return False


_jit_set_profiling_mode = _jit_override_can_fuse_on_gpu = _jit_set_texpr_fuser_enabled = _jit_set_profiling_executor


def _is_tracing():
    return False


def _get_tracing_state():
    return None


def _cuda_getDeviceCount():
    import torch

    return torch.cuda.device_count()


def _get_privateuse1_backend_name():
    return "privateuseone"


_jit_can_fuse_on_cpu = _jit_can_fuse_on_gpu = _jit_set_nvfuser_enabled = _is_tracing
_jit_override_can_fuse_on_cpu = _jit_set_nvfuser_guard_mode = _jit_set_profiling_executor


class _TensorMeta(type):
    """the metaclass of torch.Tensor, as far as code asks for it by name"""


def _get_accelerator():
    import torch

    return torch.accelerator.current_accelerator() or torch.device("cpu")


def _set_math_sdp_allow_fp16_bf16_reduction(enabled):
    pass


class DisableTorchFunctionSubclass:
    """no call here is handed to __torch_function__"""

    def __enter__(self):
        import torch._C

        torch._C.take_as_plain(True)
        return self

    def __exit__(self, *error):
        import torch._C

        torch._C.take_as_plain(False)
        return False


DisableTorchFunction = DisableTorchFunctionSubclass


class _Nn:
    """operators of torch.nn.functional that are C++ there"""

    @staticmethod
    def _parse_to(device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None):
        """what the arguments of Module.to() ask for"""
        import torch

        if isinstance(device, torch.Tensor):
            return device.device, device.dtype, non_blocking, memory_format
        if isinstance(device, torch.dtype):
            return None, device, dtype or non_blocking, memory_format
        return None if device is None else torch.device(device), dtype, non_blocking, memory_format

    def __getattr__(self, name):
        import torch

        return getattr(torch.nn.functional, name)


_nn = _Nn()
