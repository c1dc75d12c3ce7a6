import torch
import torch._C as _C


def _typed_tensor(dtype, device, args):
    """sizes make memory without values, a list a tensor of its numbers, a tensor another name for itself"""
    if len(args) == 0:
        return torch.empty(0, dtype=dtype, device=device)
    first = args[0]
    if isinstance(first, torch.Size):
        return torch.empty(first, dtype=dtype, device=device)
    if isinstance(first, torch.Tensor):
        if first.dtype != dtype:
            raise TypeError(f"expected {dtype} (got {first.dtype})")
        return first[...]
    if isinstance(first, (list, tuple, range)) or getattr(type(first), "_is_numpy_array", False):
        return torch.tensor(list(first) if isinstance(first, range) else first, dtype=dtype, device=device)
    return torch.empty(*args, dtype=dtype, device=device)


class _of_default_type:
    device = "cpu"  # what set_default_tensor_type() says


def _legacy_tensor(*args, device=None):
    return _typed_tensor(torch.get_default_dtype(), _of_default_type.device if device is None else device, args)


class tensortype(type):
    """the type of torch.FloatTensor and its kin: numbers of one type in one kind of memory"""

    __module__ = "torch"

    def __call__(cls, *args, device=None):
        return _typed_tensor(cls.dtype, cls._device if device is None else device, args)

    def __instancecheck__(cls, obj):
        return isinstance(obj, torch.Tensor) and obj.dtype == cls.dtype and obj.is_cuda == (cls._device == "cuda")


_kinds = [
    ("Float", torch.float32),
    ("Double", torch.float64),
    ("Half", torch.float16),
    ("BFloat16", torch.bfloat16),
    ("Long", torch.int64),
    ("Int", torch.int32),
    ("Short", torch.int16),
    ("Char", torch.int8),
    ("Byte", torch.uint8),
    ("Bool", torch.bool),
]
_tensor_types = [
    tensortype(kind + "Tensor", (), {"__module__": module, "dtype": dtype, "_device": device})
    for module, device in (("torch", "cpu"), ("torch.cuda", "cuda")) for kind, dtype in _kinds
]
(FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, LongTensor, IntTensor, ShortTensor, CharTensor, ByteTensor,
 BoolTensor) = _tensor_types[:10]


def set_default_tensor_type(t):
    for kind in _tensor_types:
        if t is kind or t == f"{kind.__module__}.{kind.__name__}":
            torch.set_default_dtype(kind.dtype)
            _C.set_default_device(kind._device)
            _of_default_type.device = kind._device
            return
    raise TypeError(f"invalid type object: {t}")
