from contextlib import contextmanager

import torch
import torch._C as _C
from torch.distributed.tensor.placement_types import Replicate

# Tensors beside DTensors that count as lying whole on all ranks. Source:
# torch.distributed.tensor.experimental.implicit_replication

is_allowed = []
# What these save for backward are no tensors.
_SAVE_NOTHING = ("add", "sub", "rsub", "add_", "sub_")


@contextmanager
def implicit_replication():
    is_allowed.append(True)
    try:
        yield
    finally:
        is_allowed.clear()


def replicated(name, args, kwargs):
    """the arguments, DTensors in place of tensors. Requires: that is allowed"""
    spec = _first_spec([*args, *kwargs.values()])
    if spec is None:
        return args, kwargs
    args = tuple([_whole(name, value, spec) for value in args])
    return args, {key: _whole(name, value, spec) for key, value in kwargs.items()}


def _first_spec(values):
    for value in values:
        spec = _first_spec(value) if isinstance(value, (list, tuple)) else None
        if isinstance(value, torch.Tensor):
            spec = _C.spec_of(value)
        if spec is not None:
            return spec
    return None


def _whole(name, value, spec):
    if isinstance(value, (list, tuple)):
        return type(value)([_whole(name, each, spec) for each in value])
    if not isinstance(value, torch.Tensor) or _C.spec_of(value) is not None:
        return value
    if torch.is_grad_enabled() and (value.requires_grad or name not in _SAVE_NOTHING):
        _C.refuse(
            f"gradients of {name}() under implicit_replication are not modelled",
            "make the tensor a DTensor: distribute_tensor(x, mesh)",
        )
    shape, stride = tuple(value.shape), tuple(value.stride())
    laid = spec.laid([Replicate()] * len(spec.placements), shape, stride, value.dtype)
    return _C.make_dtensor(value, laid, laid.shape, laid.stride)
