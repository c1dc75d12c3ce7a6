import torch._C as _C

enabled = _C.backend("cudnn")
benchmark = _C.backend("cudnn_benchmark")
deterministic = False
allow_tf32 = True
_SWITCHES = {"enabled": "cudnn", "benchmark": "cudnn_benchmark"}


def __tidemark_store__(name, value):
    """torch.backends.cudnn.NAME = value"""
    if name in _SWITCHES:
        _C.set_backend(_SWITCHES[name], bool(value))


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
        self.wanted = {"cudnn": enabled, "cudnn_benchmark": benchmark}

    def __enter__(self):
        self.before = {name: _C.backend(name) for name in self.wanted}
        for name, value in self.wanted.items():
            _C.set_backend(name, value)

    def __exit__(self, *error):
        for name, value in self.before.items():
            _C.set_backend(name, value)
        return False
