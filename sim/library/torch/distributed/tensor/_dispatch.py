import torch
import torch._C as _C
from torch.distributed.tensor._autocast import is_listed, under_autocast
from torch.distributed.tensor._implicit import is_allowed, replicated
from torch.distributed.tensor._leaf import begin_context, formula, found, kernel, on_parts, specs_of, spread
from torch.distributed.tensor._random import begin_random
from torch.distributed.tensor._ops._along_ops import as_complex, as_real, as_type_of, conjugate, cumulative, deviation
from torch.distributed.tensor._ops._along_ops import gather, imaginary_part, real_part
from torch.distributed.tensor._ops._along_ops import interleaved, largest_along, largest_at, log_sum_exp, new_like
from torch.distributed.tensor._ops._along_ops import repeated, scatter_add, select_along, sorted_along, tiled
from torch.distributed.tensor._ops._einsum_ops import einsum
from torch.distributed.tensor._ops._embedding_ops import embedding
from torch.distributed.tensor._ops._item_ops import get_item, set_item
from torch.distributed.tensor._ops._join_ops import cat, padded, stack
from torch.distributed.tensor._ops._loss_ops import absolute, cosine_similarity, divergence
from torch.distributed.tensor._ops._loss_ops import loss_of_parts, one_hot, softmin
from torch.distributed.tensor._ops._math_ops import foreach_norm, norm, reduction, softmax, variance, vector_norm
from torch.distributed.tensor._ops._math_ops import whole_only
from torch.distributed.tensor._ops._matrix_ops import addmm, attention, baddbmm, bmm, linear, matmul, mm, mv
from torch.distributed.tensor._ops._matrix_ops import outer
from torch.distributed.tensor._ops._pointwise_ops import elementwise, refuse_mixed, without_gradient
from torch.distributed.tensor._ops._view_ops import contiguous, cut, expand, expanded_as, moved, narrow, permuted
from torch.distributed.tensor._ops._view_ops import select, swapped, view
from torch.distributed.tensor.parallel.loss import cross_entropy, nll_loss
from torch.distributed.tensor.placement_types import Replicate

# What operators do that get DTensors: `_RULES` by name; what is not there and not element by element is refused, unless
# all ranks have its arguments whole.


def dispatch(name, op, args, kwargs):
    if is_allowed:
        args, kwargs = replicated(name, args, kwargs)
    if len(args) + len(kwargs) > 1 or name in ("cat", "stack"):
        _require_one_mesh(name, args[0] if name in ("cat", "stack") and args else (*args, *kwargs.values()))
    if is_listed(name) and torch.is_autocast_enabled("cuda"):
        return under_autocast(name, lambda args, kwargs: _dispatched(name, op, args, kwargs), args, kwargs)
    rule = _RULES.get(name)
    return _by_name(name, op, args, kwargs) if rule is None else rule(op, args, kwargs)


def _require_one_mesh(name, values):
    """Source: what each rule of PyTorch says of operands on several meshes"""
    _require_one([_C.spec_of(value) for value in values], name)


def _require_one(specs, name):
    mesh = None
    for spec in specs:
        if spec is None or spec.mesh is mesh:
            continue
        if mesh is None:
            mesh = spec.mesh
        elif spec.mesh != mesh:
            if name in _PRODUCTS:
                raise NotImplementedError("Cross device mesh comm not supported yet!")
            raise RuntimeError(
                f"Could not run {name} across different mesh: Found {spec.mesh} and {mesh}!\n\n"
                f"Sharding propagation failed for aten.{name}"
            )


def _dispatched(name, op, args, kwargs):
    rule = _RULES.get(name)
    return _by_name(name, op, args, kwargs) if rule is None else rule(op, args, kwargs)


def _extreme(kind):
    """the largest or the smallest of all, or along a dimension; of two tensors only where all ranks have them whole"""

    def rule(op, args, kwargs):
        if len(args) + len(kwargs) == 1:
            return reduction(kind)(op, args, kwargs)
        if isinstance(args[1] if len(args) > 1 else kwargs.get("dim"), int):
            return largest_along(op, args, kwargs)
        return _by_name(kind, op, args, kwargs)

    return rule


# Operators of lists of tensors that PyTorch 2.11 knows how to share.
_LISTS = frozenset([
    "_foreach_abs", "_foreach_abs_", "_foreach_add", "_foreach_add_", "_foreach_addcdiv_", "_foreach_addcmul",
    "_foreach_addcmul_", "_foreach_clamp_max_", "_foreach_clamp_min_", "_foreach_cos", "_foreach_cos_", "_foreach_div",
    "_foreach_div_", "_foreach_exp", "_foreach_exp_", "_foreach_lerp_", "_foreach_log", "_foreach_log_", "_foreach_max",
    "_foreach_maximum_", "_foreach_mul", "_foreach_mul_", "_foreach_neg", "_foreach_neg_", "_foreach_norm",
    "_foreach_pow", "_foreach_powsum", "_foreach_reciprocal_", "_foreach_sqrt", "_foreach_sqrt_", "_foreach_sub",
    "_foreach_sub_", "_foreach_zero_", "_fused_adam_",
])


def _not_registered(name):
    return NotImplementedError(f"Operator aten.{name} does not have a sharding strategy registered.")


def _not_known(name):
    """what PyTorch 2.11 refuses however its arguments lie"""

    def rule(op, args, kwargs):
        refuse_mixed(name, args)
        raise _not_registered(name)

    return rule


def _by_name(name, op, args, kwargs):
    if name.startswith(("_foreach_", "_fused_")) and name not in _LISTS:
        raise _not_registered(f"{name}.default")
    if name in _LISTS or name == "_amp_unscale_":
        # Lists behind the first go where its entries lie.
        args = tuple([arg if i > 0 and isinstance(arg, list) else _without_terms(arg) for i, arg in enumerate(args)])
        return _list_by_list(op, args, kwargs)
    if name in _ELEMENTWISE:
        return elementwise(op, args, kwargs, name, True)
    specs = specs_of([*args, *kwargs.values()])
    if all([spec.is_replicated() for spec in specs]):
        return _replicated(op, args, kwargs, specs)
    _C.refuse(
        f"{name}() of a DTensor that lies as {list(specs[0].placements)} is not modelled",
        "take this rank's part: x.to_local()",
    )


def _replicated(op, args, kwargs, specs):
    """what every rank has whole, every rank computes whole"""
    tensors = found([*args, *kwargs.values()])
    if torch.is_grad_enabled() and any([t.requires_grad for t in tensors]):
        return _replicated_with_gradients(op, args, kwargs, tensors)
    out = _C.call_local(op, *args, **kwargs)
    if isinstance(out, (list, tuple)):
        return type(out)([spread(o, specs[0], None, o.shape) if isinstance(o, torch.Tensor) else o for o in out])
    return spread(out, specs[0], None, out.shape) if isinstance(out, torch.Tensor) else out


def _replicated_with_gradients(op, args, kwargs, tensors):
    whole = [Replicate()] * len(specs_of(tensors)[0].placements)
    laid = [None if _C.spec_of(t) is None else whole for t in tensors]
    sizes = on_parts(op, args, kwargs, [torch.empty(t.shape, dtype=t.dtype, device="meta") for t in tensors])
    if not isinstance(sizes, torch.Tensor):
        _C.refuse(f"gradients of {op.__name__}() of DTensors are not modelled", "take this rank's part: x.to_local()")

    def back(grad, operands, result):
        if op.__name__ in _WHOLE_WITHOUT_GRADIENT:
            raise _not_registered(f"{_WHOLE_WITHOUT_GRADIENT[op.__name__]}.default")
        return whole, laid, whole, laid

    return kernel(op.__name__, op, args, kwargs, laid, whole, back, tuple(sizes.shape))


def _without_terms(value):
    """the same, terms of sums added up"""
    if isinstance(value, (list, tuple)):
        return type(value)([_without_terms(each) for each in value])
    spec = _C.spec_of(value)
    if spec is None or not spec.has_terms:
        return value
    return value.redistribute(placements=[Replicate() if p.is_partial() else p for p in spec.placements])


def _list_by_list(op, args, kwargs):
    """entries of lists go where those of the first lie"""
    lists = [v for v in args if isinstance(v, (list, tuple))]
    if len({len(v) for v in lists}) == 1:
        refuse_mixed(op.__name__, lists)
    first = lists[0]
    args = tuple([
        type(v)([_moved(x, _C.spec_of(f)) for x, f in zip(v, first)])
        if isinstance(v, (list, tuple)) and v is not first and len(v) == len(first) else v for v in args
    ])
    out = _C.call_local(op, *args, **kwargs)
    if isinstance(out, (list, tuple)):
        some = specs_of(args)[0]
        on_all = some.with_placements([Replicate()] * len(some.placements))
        return type(out)([spread(o, _C.spec_of(v) or on_all, None, v.shape) for o, v in zip(out, first)])
    return out


def _moved(value, target):
    spec = _C.spec_of(value)
    if spec is None or target is None or spec is target:
        return value
    _require_one([target, spec], "pointwise computation")
    if spec.placements == target.placements or spec.shape != target.shape:
        return value
    return value.redistribute(placements=target.placements)


def _like(op, args, kwargs):
    """a tensor like a DTensor, on a device that may be named"""
    begin_context(kwargs.get("device"))
    spec = _C.spec_of(args[0])
    made = [Replicate() if p.is_partial() else p for p in spec.placements]
    return spread(op(_C.local_of(args[0]), *args[1:], **kwargs), spec, made)


def _cast(op, args, kwargs):
    """another type: the gradient's way back names the device"""
    x = args[0]
    spec = _C.spec_of(x)
    if spec is None:
        return elementwise(op, args, kwargs, "to")
    device, dtype, old = x.device, x.dtype, _C.local_of(x)
    for target in [*args[1:], kwargs.get("device")]:
        if isinstance(target, (str, torch.device)) and torch.device(target).type != device.type:
            begin_context(torch.device(torch.device(target).type, torch.cuda.current_device()))
    if _C.call_local(_is_as_it_is, old, args[1:], kwargs):
        return x
    for target in args[1:]:
        if isinstance(target, torch.Tensor):  # its type, and its device by name
            begin_context(target.device)
    del old

    def forward():
        return spread(op(_C.local_of(x), *args[1:], **kwargs), spec), (), "ToCopyBackward0"

    def gradients(kept, needs, grad):
        begin_context(device)
        return (grad.to(device=device, dtype=dtype),)

    return formula("_to_copy", (x,), forward, gradients)


def _is_as_it_is(local, args, kwargs):
    """nothing to be cast or moved"""
    if kwargs.get("copy", False):
        return False
    for target in [*args, *kwargs.values()]:
        if isinstance(target, torch.Tensor):
            if target.dtype != local.dtype or target.device != local.device:
                return False
        elif isinstance(target, torch.dtype):
            if target != local.dtype:
                return False
        elif isinstance(target, (str, torch.device)):
            wanted = torch.device(target)
            if wanted.type != local.device.type or wanted.index is not None and wanted.index != local.device.index:
                return False
    return kwargs.get("memory_format") is None


def _random(op, args, kwargs):
    """random numbers of the whole: the generator's state is read first, on the device. Source:
    torch.distributed.tensor._random"""
    begin_random(not args[0].is_meta)
    if not op.__name__.endswith("_"):
        return elementwise(op, args, kwargs, op.__name__)
    with torch.no_grad():
        return elementwise(op, args, kwargs)


def _dropout(op, args, kwargs):
    given = {**dict(zip(("input", "p", "training"), args)), **kwargs}
    if given.get("p", 0.5) == 0 or not given.get("training", True):
        return given["input"]
    if any([p.is_partial() for p in _C.spec_of(given["input"]).placements]):
        raise RuntimeError("aten.native_dropout.default with Partial is not supported yet!")
    return _random(op, args, kwargs)


def _tanh_shrink(op, args, kwargs):
    x = args[0]
    return x - x.tanh()


def _soft_sign(op, args, kwargs):
    x = args[0]
    return x / (x.abs() + 1)


# Operators that PyTorch 2.11 has neither a rule nor a way through others for: of torch's names those that
# `sharding_propagator` does not know, that are not composite and that DecompShardingStrategy takes apart in vain.
_NOT_KNOWN = {
    **{name: f"{name}.default" for name in (
        "addbmm", "bincount", "cummax", "cummin", "cumprod", "flip", "glu", "hardshrink", "kthvalue", "logcumsumexp",
        "masked_scatter", "masked_select", "median", "mode", "multinomial", "nanmedian", "nonzero", "poisson", "roll",
        "threshold", "avg_pool2d", "binary_cross_entropy_with_logits",
    )},
    "scatter_reduce": "scatter_reduce.two", "searchsorted": "searchsorted.Tensor",
}  # fmt: skip
# Operators whose gradient is such an operator.
_WITHOUT_GRADIENT = {
    "logit": "logit_backward", "i0": "special_i1", "hardswish": "hardswish_backward",
    "softshrink": "softshrink_backward", "hardsigmoid": "hardsigmoid_backward", "hardtanh": "hardtanh_backward",
    "relu6": "hardtanh_backward", "logsigmoid": "log_sigmoid_backward", "prelu": "_prelu_kernel_backward",
}
_WHOLE_WITHOUT_GRADIENT = {"diagonal": "diagonal_backward"}
_ELEMENTWISE = {
    "clone", "detach", "zero_", "fill_", "copy_", "to", *[op + end for op in (
        "add", "sub", "mul", "div", "pow", "abs", "exp", "log", "sqrt", "rsqrt", "reciprocal", "clamp", "clamp_min",
        "clamp_max", "lerp", "addcmul", "addcdiv", "neg", "sign", "relu", "sigmoid", "tanh", "square", "maximum",
        "minimum", "acos", "acosh", "angle", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_not",
        "bitwise_or", "bitwise_xor", "ceil", "clip", "copysign", "cos", "cosh", "deg2rad", "digamma", "divide", "erf",
        "erfc", "erfinv", "exp2", "expm1", "float_power", "floor", "fmod", "frac", "hypot", "i0", "igamma", "igammac",
        "ldexp", "lgamma", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "logical_xor", "logit",
        "multiply", "nan_to_num", "nextafter", "polygamma", "rad2deg", "remainder", "round", "sgn", "sin", "sinc",
        "sinh", "subtract", "tan", "trunc", "xlogy"
    ) for end in ("", "_")],
    "fmax", "fmin", "heaviside", "isneginf", "isposinf", "logaddexp", "logaddexp2", "positive", "rsub", "signbit",
    "true_divide", "gelu", "silu", "mish", "leaky_relu", "elu", "selu", "celu", "softplus",
    "masked_fill", "masked_fill_", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf",
    "isfinite", "where", "_fused_adam_",
    "_amp_unscale_",
}
_PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "matmul", "__matmul__", "linear", "scaled_dot_product_attention")
_RANDOM = ("normal_", "rand_like", "randn_like", "randint_like", "uniform_", "bernoulli", "bernoulli_")
_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like")
_RULES = {
    "linear": linear, "matmul": matmul, "mm": mm, "__matmul__": matmul, "addmm": addmm, "bmm": bmm,
    "scaled_dot_product_attention": attention, "embedding": embedding, "layer_norm": norm, "rms_norm": norm,
    "softmax": softmax, "log_softmax": softmax, "cross_entropy": cross_entropy,
    "sum": reduction("sum"), "mean": reduction("avg"), "amax": reduction("max"), "amin": reduction("min"),
    "max": _extreme("max"), "min": _extreme("min"), "all": reduction("product"),
    "prod": reduction("product"), "any": reduction("sum"),
    **{name: view for name in ("view", "reshape", "flatten", "unflatten")},
    **{name: permuted(name) for name in ("transpose", "permute", "t", "unsqueeze", "squeeze")},
    **{name: cut for name in ("chunk", "split", "unbind")}, "narrow": narrow, "select": select, "expand": expand,
    "__getitem__": get_item, "__setitem__": set_item, "contiguous": contiguous, "cat": cat, "stack": stack,
    "tril": whole_only, "triu": whole_only,
    **{name: _random for name in _RANDOM}, "dropout": _dropout, **{name: _like for name in _LIKE},
    "cumsum": cumulative, "std": deviation, "logsumexp": log_sum_exp, "topk": sorted_along, "sort": sorted_along,
    "argmax": largest_at, "argmin": largest_at, "gather": gather, "index_select": select_along, "repeat": repeated,
    "repeat_interleave": interleaved, "view_as_complex": as_complex, "view_as_real": as_real, "type_as": as_type_of,
    "swapaxes": swapped, "swapdims": swapped, "movedim": moved, "moveaxis": moved, "expand_as": expanded_as,
    "tile": tiled, "tanhshrink": _tanh_shrink, "softsign": _soft_sign,
    **{name: _not_known(operator) for name, operator in _NOT_KNOWN.items()},
    **{name: without_gradient(_not_registered(f"{to}.default")) for name, to in _WITHOUT_GRADIENT.items()},
    **{name: without_gradient(RuntimeError(f"derivative for aten::{name} is not implemented")) for name in (
        "heaviside", "floor_divide"
    )},
    "copysign": without_gradient(RuntimeError(
        "aten.add.Tensor got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before "
        "calling distributed operators!"
    )),
    "conj": conjugate, "real": real_part, "imag": imaginary_part,
    **{name: loss_of_parts for name in ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy")},
    "l1_loss": absolute, "kl_div": divergence, "softmin": softmin,
    "einsum": einsum, **{name: new_like for name in ("new_empty", "new_full", "new_ones", "new_zeros")},
    "nll_loss": nll_loss, "baddbmm": baddbmm, "scatter_add": scatter_add, "outer": outer, "ger": outer,
    "_nn_pad": padded, "cosine_similarity": cosine_similarity, "mv": mv, "one_hot": one_hot,
    "to": _cast, "var": variance, "_foreach_norm": foreach_norm, "linalg_vector_norm": vector_norm, "norm": vector_norm,
}
