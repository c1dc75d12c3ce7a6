import torch._C as _C
from torch.backends import _precision


def enable_cudnn_sdp(enabled):
    _C.set_backend("cudnn_sdp", enabled)


def enable_flash_sdp(enabled):
    _C.set_backend("flash", enabled)


def enable_mem_efficient_sdp(enabled):
    _C.set_backend("efficient", enabled)


def enable_math_sdp(enabled):
    _C.set_backend("math", enabled)


def cudnn_sdp_enabled():
    return _C.backend("cudnn_sdp")


def flash_sdp_enabled():
    return _C.backend("flash")


def mem_efficient_sdp_enabled():
    return _C.backend("efficient")


def math_sdp_enabled():
    return _C.backend("math")


class _Matmul(_precision.Settings):
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True

    @property
    def allow_tf32(self):
        return _C.backend("tf32")

    @allow_tf32.setter
    def allow_tf32(self, value):
        _precision.set("matmul", "tf32" if value else "ieee")

    @property
    def allow_fp16_accumulation(self):
        return _C.backend("fp16_accumulation")

    @allow_fp16_accumulation.setter
    def allow_fp16_accumulation(self, value):
        _C.set_backend("fp16_accumulation", value)


matmul = _Matmul("matmul")


class sdp_kernel:
    def __init__(self, enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
        self.wanted = {
            "flash": enable_flash,
            "math": enable_math,
            "efficient": enable_mem_efficient,
            "cudnn_sdp": enable_cudnn,
        }

    def __enter__(self):
        self.before = {name: _C.backend(name) for name in self.wanted}
        for name, value in self.wanted.items():
            _C.set_backend(name, value)

    def __exit__(self, *error):
        for name, value in self.before.items():
            _C.set_backend(name, value)
        return False
