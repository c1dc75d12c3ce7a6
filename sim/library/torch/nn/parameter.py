import torch


def Buffer(data=None, *, persistent=True):
    """a tensor that a module registers as a buffer when it is assigned"""
    buffer = torch.empty(0) if data is None else data.detach().requires_grad_(data.requires_grad)
    buffer.persistent = persistent
    buffer._is_buffer = True
    return buffer


class UninitializedTensorMixin:
    pass


class UninitializedParameter(UninitializedTensorMixin):
    """a lazy layer's parameter before its first input; here such a one is empty until then"""


class UninitializedBuffer(UninitializedTensorMixin):
    pass


def is_lazy(param):
    return isinstance(param, UninitializedTensorMixin)
