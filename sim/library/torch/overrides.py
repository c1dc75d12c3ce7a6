"""__torch_function__: what takes a call of torch's in its own hands"""
import torch
import torch._C as _C


class TorchFunctionMode:
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

    def __enter__(self):
        _C.enter_function_mode(self)
        return self

    def __exit__(self, *error):
        _C.leave_function_mode()


def has_torch_function(relevant_args):
    return _C.has_function_mode()


def has_torch_function_unary(obj):
    return _C.has_function_mode()


def has_torch_function_variadic(*relevant_args):
    return _C.has_function_mode()


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    return _C.call_function_mode(public_api, args, kwargs)


def is_tensor_like(inp):
    return isinstance(inp, torch.Tensor)
