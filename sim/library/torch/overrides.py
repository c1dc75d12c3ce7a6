"""__torch_function__: what takes a call of torch's in its own hands"""
import torch


class TorchFunctionMode:
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

    def __enter__(self):
        import torch._C as _C

        _C.refuse("entering a TorchFunctionMode is not modelled")

    def __exit__(self, *error):
        pass


def has_torch_function(relevant_args):
    return False


def has_torch_function_unary(obj):
    return False


def has_torch_function_variadic(*relevant_args):
    return False


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    return public_api(*args, **kwargs)


def is_tensor_like(inp):
    return isinstance(inp, torch.Tensor)
