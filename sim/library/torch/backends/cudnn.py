import torch._C as _C
from torch.backends import _precision

enabled = _C.backend("cudnn")
benchmark = _C.backend("cudnn_benchmark")
deterministic = False
allow_tf32 = _C.backend("cudnn_tf32")
fp32_precision = "none"
conv = _precision.Settings("conv")
rnn = _precision.Settings("rnn")
_SWITCHES = {"enabled": "cudnn", "benchmark": "cudnn_benchmark"}


def __tidemark_store__(name, value):
    """torch.backends.cudnn.NAME = value"""
    if name in _SWITCHES:
        _C.set_backend(_SWITCHES[name], bool(value))
    elif name == "allow_tf32":
        _allow_tf32(value)
    elif name == "fp32_precision":
        _precision.set("cudnn", value)


def _allow_tf32(value):
    for each in ("conv", "rnn"):
        _precision.set(each, "tf32" if value else "none")


def is_available():
    return True


def version():
    return 91900


class flags:

    def __init__(
        self,
        enabled=False,
        benchmark=False,
        benchmark_limit=10,
        deterministic=False,
        allow_tf32=True,
        fp32_precision="none",
    ):
        tf32 = allow_tf32 if fp32_precision == "none" else fp32_precision == "tf32"
        self.wanted = {"cudnn": enabled, "cudnn_benchmark": benchmark, "cudnn_tf32": tf32}

    def __enter__(self):
        self.before = {name: _C.backend(name) for name in self.wanted}
        for name, value in self.wanted.items():
            _C.set_backend(name, value)

    def __exit__(self, *error):
        for name, value in self.before.items():
            _C.set_backend(name, value)
        return False
