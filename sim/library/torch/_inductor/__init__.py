"""PyTorch's own compiler"""
from torch._inductor import config

_MODES = {
    "default": {},
    "reduce-overhead": {"triton.cudagraphs": True},
    "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
    "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True},
}


def list_mode_options(mode=None, dynamic=None):
    return dict(_MODES) if mode is None else dict(_MODES[mode])
