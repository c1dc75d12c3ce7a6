# module: torch
# defines: autocast is_autocast_enabled get_autocast_dtype get_autocast_gpu_dtype clear_autocast_cache
import torch
import torch._C as _C


_bfloat16_tried = []


class autocast:
    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        self.device_type = device_type
        self.dtype = torch.float16 if dtype is None else dtype
        self.enabled = enabled
        self.cache_enabled = _C.autocast_state()[2] if cache_enabled is None else cache_enabled
        if device_type == "cuda" and enabled and self.dtype is torch.bfloat16 and not _bfloat16_tried:
            # A GPU before Ampere is asked once whether it can make such a tensor.
            _bfloat16_tried.append(True)
            if torch.cuda.get_device_capability()[0] < 8:
                torch.tensor([1.0], dtype=torch.bfloat16, device="cuda")

    def __enter__(self):
        if self.device_type != "cuda":
            return self
        self.before = _C.autocast_state()
        _C.set_autocast(self.enabled, self.dtype, self.cache_enabled)
        _C.autocast_enter()
        return self

    def __exit__(self, *error):
        if self.device_type != "cuda":
            return False
        _C.autocast_exit()
        _C.set_autocast(*self.before)
        return False

    def __call__(self, function):
        def decorated(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return decorated


def is_autocast_enabled(device_type="cuda"):
    return _C.autocast_state()[0]


def get_autocast_dtype(device_type="cuda"):
    return _C.autocast_state()[1]


def get_autocast_gpu_dtype():
    return _C.autocast_state()[1]


def clear_autocast_cache():
    _C.clear_autocast_cache()
