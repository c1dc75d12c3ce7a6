"""fp32_precision of torch.backends: what says "none" is as what stands above it. Convolutions and recurrent layers take
TF32 by themselves, products of matrices do not."""

import torch._C as _C

_ABOVE = {"matmul": "all", "cudnn": "all", "conv": "cudnn", "rnn": "cudnn"}
_own = {
    "all": "none",
    "matmul": "tf32" if _C.backend("tf32") else "none",
    "cudnn": "none",
    "conv": "tf32" if _C.backend("cudnn_tf32") else "none",
    "rnn": "tf32" if _C.backend("cudnn_tf32") else "none",
}


def get(name):
    while _own[name] == "none" and name in _ABOVE:
        name = _ABOVE[name]
    return _own[name]


def set(name, value):
    if value not in ("ieee", "tf32", "bf16", "none"):
        raise RuntimeError(f"Unknown precision: {value}")
    _own[name] = value
    _C.set_backend("tf32", get("matmul") == "tf32")
    _C.set_backend("cudnn_tf32", get("conv") == "tf32")


class Settings:
    """torch.backends.cudnn.conv and its like"""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    @property
    def fp32_precision(self):
        return get(self._name)

    @fp32_precision.setter
    def fp32_precision(self, value):
        set(self._name, value)
