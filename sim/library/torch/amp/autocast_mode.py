import functools

import torch
import torch._C as _C


def _cast(value, device_type, dtype):
    if isinstance(value, torch.Tensor):
        wanted = value.is_floating_point() and value.device.type == device_type and value.dtype is not torch.float64
        return value.to(dtype) if wanted else value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(v, device_type, dtype) for v in value])
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args, **kwargs):
        args[0]._dtype = torch.get_autocast_dtype(device_type)
        if cast_inputs is None:
            args[0]._fwd_used_autocast = torch.is_autocast_enabled(device_type)
            return fwd(*args, **kwargs)
        autocast_context = torch.is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = False
        if autocast_context:
            with autocast(device_type=device_type, enabled=False):
                return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))
        return fwd(*args, **kwargs)

    return decorate_fwd


def custom_bwd(bwd=None, *, device_type):
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args, **kwargs):
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd


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
        @functools.wraps(function)
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
