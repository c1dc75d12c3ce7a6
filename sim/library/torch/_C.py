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
