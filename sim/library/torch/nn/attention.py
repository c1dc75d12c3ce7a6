import torch._C as _C


class SDPBackend:
    ERROR = "error"
    MATH = "math"
    FLASH_ATTENTION = "flash"
    EFFICIENT_ATTENTION = "efficient"
    CUDNN_ATTENTION = "cudnn_sdp"


class sdpa_kernel:
    def __init__(self, backends, set_priority=False):
        self.backends = list(backends) if isinstance(backends, (list, tuple)) else [backends]

    def __enter__(self):
        names = ("math", "flash", "efficient", "cudnn_sdp")
        self.before = {name: _C.backend(name) for name in names}
        for name in names:
            _C.set_backend(name, name in self.backends)

    def __exit__(self, *error):
        for name, value in self.before.items():
            _C.set_backend(name, value)
        return False
