"""names of torch's that code asks about, of what no run here has"""


class SymInt:
    """a size that is not known: every size is"""


class SymFloat:
    pass


class SymBool:
    pass


class layout:
    pass


class UntypedStorage:
    pass


class TypedStorage:
    pass


class ScriptObject:
    pass


ByteStorage = FloatStorage = HalfStorage = TypedStorage


def sym_int(a):
    return int(a)


def sym_float(a):
    return float(a)


def sym_not(a):
    return not a


def sym_max(a, b):
    return max(a, b)


def sym_min(a, b):
    return min(a, b)


def sym_ite(b, t, f):
    return t if b else f


def _check(cond, message=None):
    if not cond:
        raise RuntimeError(message() if message is not None else "Expected cond to be True, but got False.")


def _check_with(error_type, cond, message):
    if not cond:
        raise error_type(message())


def _check_value(cond, message=None):
    if not cond:
        raise ValueError(message() if message is not None else "Expected cond to be True, but got False.")


def _check_tensor_all_with(error_type, cond, message=None):
    import torch

    if not isinstance(cond, torch.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype != torch.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, torch._is_all_true(cond).item(), message)


def _check_tensor_all(cond, message=None):
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_is_size(i, message=None, *, max=None):
    _check(i >= 0, message)


def get_autocast_cpu_dtype():
    import torch

    return torch.bfloat16


def is_autocast_cpu_enabled():
    import torch

    return torch.is_autocast_enabled("cpu")


def get_deterministic_debug_mode():
    return 0


def set_deterministic_debug_mode(debug_mode):
    pass
