import _tidemark
import torch


def is_traceable_wrapper_subclass(t):
    """whether a tensor is of a class that is made of other tensors"""
    has_parts = hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
    return isinstance(t, torch.Tensor) and type(t) is not torch.Tensor and has_parts


def __getattr__(name):
    return _tidemark.later("torch.utils._python_dispatch." + name)
