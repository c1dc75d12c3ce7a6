import torch
import torch._C as _C

# What autocast does to an operator's DTensors before the operator sees them. Source: docs/rules/autocast.md#1,
# docs/rules/autocast.md#2

_LOW = {"linear", "matmul", "__matmul__", "mm", "addmm", "bmm", "baddbmm", "einsum", "scaled_dot_product_attention"}
_WIDE = {
    "exp", "expm1", "log", "log10", "log1p", "log2", "pow", "rsqrt", "reciprocal", "tan", "sinh", "cosh", "acos",
    "asin", "erfinv", "softplus", "layer_norm", "logsumexp", "nll_loss",
}
_WIDE_RESULT = {"softmax", "log_softmax", "sum", "prod", "cumsum"}


def is_listed(name):
    return name in _LOW or name in _WIDE or name in _WIDE_RESULT


def under_autocast(name, run, args, kwargs):
    """run(args, kwargs) of casts, the last argument first, without autocast; they are dropped from the first on"""
    enabled, dtype, caches = _C.autocast_state()
    _C.set_autocast(False, dtype, caches)
    try:
        if name in _WIDE_RESULT:
            if kwargs.get("dtype") is None and _is_cast(args[0]):
                kwargs = {**kwargs, "dtype": torch.float32}
            return run(args, kwargs)
        wanted = dtype if name in _LOW else torch.float32
        args, named = list(args), dict(kwargs)
        for key in reversed(list(named)):
            named[key] = cast(named[key], wanted, dtype, caches)
        for i in range(len(args) - 1, -1, -1):
            args[i] = cast(args[i], wanted, dtype, caches)
        return run(tuple(args), named)
    finally:
        _C.set_autocast(enabled, dtype, caches)


def _is_cast(value):
    if not isinstance(value, torch.Tensor) or not value.is_cuda or not value.is_floating_point():
        return False
    return value.dtype is not torch.float64


def cast(value, wanted, low, caches):
    if isinstance(value, (list, tuple)):
        return type(value)([cast(each, wanted, low, caches) for each in value])
    if not _is_cast(value) or value.dtype is wanted:
        return value
    is_parameter = value.dtype is torch.float32 and value.requires_grad and value.is_leaf
    if not (caches and wanted is low and is_parameter):
        return value.to(wanted)
    kept = _C.cast_kept(value)
    if kept is None:
        kept = value.to(wanted)
        _C.keep_cast(value, kept)
    return kept
