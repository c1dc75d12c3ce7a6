# module: torch
# defines: manual_seed seed get_rng_state set_rng_state is_tensor is_floating_point is_complex numel set_default_dtype get_default_dtype use_deterministic_algorithms set_float32_matmul_precision compile finfo iinfo typename is_storage as_tensor from_numpy tensor initial_seed set_printoptions get_float32_matmul_precision set_num_threads get_num_threads set_num_interop_threads set_anomaly_enabled are_deterministic_algorithms_enabled is_deterministic_algorithms_warn_only_enabled get_default_device set_default_device is_inference _assert is_warn_always_enabled set_warn_always get_device_module set_flush_denormal
import torch
import torch._C as _C


def manual_seed(seed):
    return None


def seed():
    return 0


def initial_seed():
    return 0


def get_rng_state():
    return torch.empty(5056, dtype=torch.uint8, device="cpu")


def set_rng_state(state):
    return None


def set_printoptions(**options):
    return None


def _assert(condition, message):
    assert condition, message


def is_tensor(obj):
    return isinstance(obj, torch.Tensor)


def is_storage(obj):
    return False


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    return input.numel()


def set_default_dtype(d):
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C.set_default_dtype(d)


def get_default_dtype():
    return _C.default_dtype()


def use_deterministic_algorithms(mode, *, warn_only=False):
    _C.set_backend("deterministic", mode)


def set_float32_matmul_precision(precision):
    _C.set_backend("tf32", precision != "highest")


def compile(model=None, **options):
    _C.refuse("torch.compile is not modelled", "run the model without it: compiled memory is another matter")


def typename(obj):
    return obj.type() if isinstance(obj, torch.Tensor) else type(obj).__name__


# Python's own: torch has dtypes of these names.
_bool, _int = type(True), type(1)


def _shape_and_kind(data):
    """the sizes of nested lists, and the widest kind of number in them: 0 bool, 1 int, 2 float"""
    if isinstance(data, (list, tuple)):
        if len(data) == 0:
            return [0], 2
        parts = [_shape_and_kind(item) for item in data]
        for shape, kind in parts:
            if shape != parts[0][0]:
                raise ValueError("expected sequence of equal lengths in torch.tensor()")
        return [len(data)] + parts[0][0], sorted([kind for shape, kind in parts])[-1]
    if isinstance(data, torch.Tensor):
        return list(data.shape), 2 if data.is_floating_point() else 1
    if isinstance(data, _bool):
        return [], 0
    return [], 1 if isinstance(data, _int) else 2


def _flat(data):
    """the numbers of nested lists; None: a tensor is among them"""
    if not isinstance(data, (list, tuple)):
        return None if isinstance(data, torch.Tensor) else [data]
    out = []
    for item in data:
        part = _flat(item)
        if part is None:
            return None
        out.extend(part)
    return out


_plain_numbers = (type(1.0), type(1), type(True))


def _plain_number(value):
    """the number that an object of a class derived from one is"""
    return value * 1 if isinstance(value, _int) else value * 1.0


def _is_array(data):
    return getattr(type(data), "_is_numpy_array", False)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    if isinstance(data, (list, tuple)) and len(data) > 0 and _is_array(data[0]):
        import numpy

        data = numpy.array(data)
    if _is_array(data):
        out = data._t.to(device=device or torch.get_default_device(), dtype=dtype, copy=True)
        out = out.pin_memory() if pin_memory else out
        return out.requires_grad_(True) if requires_grad else out
    shape, kind = _shape_and_kind(data)
    if dtype is None:
        dtype = data.dtype if isinstance(data, torch.Tensor) else (torch.bool, torch.int64, torch.get_default_dtype())[kind]
    out = torch.empty(shape, dtype=dtype, device=device, pin_memory=pin_memory)
    _C.note_upload(out)
    if requires_grad:
        out.requires_grad_(True)
    if out.numel() <= 1024:
        values = _flat(data)
        if values is not None:
            _C.note_values(out, [v if type(v) in _plain_numbers else _plain_number(v) for v in values])
    return out


def as_tensor(data, dtype=None, device=None):
    if _is_array(data):
        data = data._t.detach()
    if isinstance(data, torch.Tensor):
        return data.to(device=device, dtype=dtype)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array):
    if not _is_array(array):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return array._t.detach()


class _Info:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


def finfo(dtype=None):
    if dtype is None:
        dtype = torch.get_default_dtype()
    if dtype == torch.float16:
        return _Info(bits=16, eps=2.0 ** -10, max=65504.0, min=-65504.0, tiny=2.0 ** -14, smallest_normal=2.0 ** -14)
    if dtype == torch.bfloat16:
        return _Info(bits=16, eps=2.0 ** -7, max=3.3895313892515355e38, min=-3.3895313892515355e38, tiny=2.0 ** -126,
                     smallest_normal=2.0 ** -126)
    if dtype == torch.float64:
        return _Info(bits=64, eps=2.0 ** -52, max=1.7976931348623157e308, min=-1.7976931348623157e308, tiny=2.0 ** -1022,
                     smallest_normal=2.0 ** -1022)
    return _Info(bits=32, eps=2.0 ** -23, max=3.4028234663852886e38, min=-3.4028234663852886e38, tiny=2.0 ** -126,
                 smallest_normal=2.0 ** -126)


def iinfo(dtype):
    bits = 8 * dtype.itemsize
    if dtype == torch.uint8:
        return _Info(bits=8, min=0, max=255)
    return _Info(bits=bits, min=-(2 ** (bits - 1) - 1) - 1, max=2 ** (bits - 1) - 1)


def get_float32_matmul_precision():
    return "high" if _C.backend("tf32") else "highest"


def set_num_threads(count):
    return None


def set_num_interop_threads(count):
    return None


def get_num_threads():
    return 1


def set_anomaly_enabled(mode, check_nan=True):
    if mode:
        _C.refuse("anomaly detection is not modelled", "it looks for NaN in every gradient: leave it off")


def are_deterministic_algorithms_enabled():
    return _C.backend("deterministic")


def is_deterministic_algorithms_warn_only_enabled():
    return False


def get_default_device():
    return _C.default_device()


def set_default_device(device):
    _C.set_default_device("cpu" if device is None else device)


def is_warn_always_enabled():
    return False


def set_warn_always(b):
    pass


set_flush_denormal = set_warn_always


def get_device_module(device=None):
    return torch.cuda


def is_inference(input):
    return False
