import torch
import torch._C as _C
from torch.distributed.tensor._gradients import follows, keeps_terms, needs_sums, run
from torch.distributed.tensor._ops._embedding_ops import embedding
from torch.distributed.tensor._ops._math_ops import norm, reduction, softmax
from torch.distributed.tensor._ops._matrix_ops import linear, matmul
from torch.distributed.tensor._ops._view_ops import cut, permuted, view
from torch.distributed.tensor.parallel.loss import cross_entropy
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard, _NormPartial

# What operators do that get DTensors: `_RULES` by name. Each brings this rank's parts into place, runs the operator on
# them, and says how the result lies.


def dispatch(name, op, args, kwargs):
    _C.note_fake_tensors()
    rule = _RULES.get(name)
    if rule is not None:
        return rule(op, args, kwargs)
    return _by_name(name, op, args, kwargs)


def _extreme(kind):
    """the largest or the smallest of all; along a dimension, or of two tensors, only where all ranks have them whole"""

    def rule(op, args, kwargs):
        if len(args) + len(kwargs) == 1:
            return reduction(kind)(op, args, kwargs)
        return _by_name(kind, op, args, kwargs)

    return rule


def _by_name(name, op, args, kwargs):
    if name.startswith("_foreach_") or name in ("_fused_update_", "_amp_unscale_"):
        # Lists behind the first go where its entries lie.
        args = tuple([arg if i > 0 and isinstance(arg, list) else _without_terms(arg) for i, arg in enumerate(args)])
        return _list_by_list(op, args, kwargs)
    if name in _ELEMENTWISE:
        return _elementwise(op, args, kwargs, name)
    specs = _specs([*args, *kwargs.values()])
    if all([spec.is_replicated() for spec in specs]):
        return _replicated(op, args, kwargs, specs)
    _C.refuse(
        f"{name}() of a DTensor that lies as {list(specs[0].placements)} is not modelled",
        "take this rank's part: x.to_local()",
    )


def _replicated(op, args, kwargs, specs):
    """what every rank has whole, every rank computes whole"""
    out = _C.call_local(op, *args, **kwargs)
    if isinstance(out, (list, tuple)):
        return type(out)([_spread(o, specs[0], o.shape) if isinstance(o, torch.Tensor) else o for o in out])
    return _spread(out, specs[0], out.shape) if isinstance(out, torch.Tensor) else out


def _without_terms(value):
    """the same, terms of sums added up"""
    if isinstance(value, (list, tuple)):
        return type(value)([_without_terms(each) for each in value])
    spec = _C.spec_of(value) if isinstance(value, torch.Tensor) else None
    if spec is None or not any([p.is_partial() for p in spec.placements]):
        return value
    return value.redistribute(placements=[Replicate() if p.is_partial() else p for p in spec.placements])


def _specs(values):
    found = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found.extend(_specs(value))
        elif isinstance(value, torch.Tensor):
            spec = _C.spec_of(value)
            if spec is not None:
                found.append(spec)
    return found


def _spread(out, spec, shape=None):
    """the result of an operator on parts, as a DTensor"""
    if not isinstance(out, torch.Tensor) or _C.spec_of(out) is not None:
        return out
    spec = spec.with_shape(spec.shape if shape is None else shape)
    spec.dtype = out.dtype
    return _C.spread_out(out, spec, spec.shape, spec.stride)


def _broadcast(shapes):
    return torch.broadcast_shapes(*shapes)


def _refuse_mixed(name, values):
    """what PyTorch says of a tensor beside DTensors; one number counts as on all ranks"""
    for value in values:
        if isinstance(value, (list, tuple)):
            _refuse_mixed(name, value)
        elif isinstance(value, torch.Tensor) and _C.spec_of(value) is None and value.numel() != 1:
            raise RuntimeError(
                f"aten.{name}: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before "
                "calling distributed operators! Please see https://docs.pytorch.org/docs/main/distributed.tensor.html"
                "#mixed-tensor-and-dtensor-operations for more details."
            )


def _list_by_list(op, args, kwargs):
    """entries of lists go where those of the first lie"""
    lists = [v for v in args if isinstance(v, (list, tuple))]
    if not lists:
        return _elementwise(op, args, kwargs)
    if len({len(v) for v in lists}) == 1:
        _refuse_mixed(op.__name__, lists)
    first = lists[0]
    args = tuple([
        type(v)([_moved(x, _C.spec_of(f)) for x, f in zip(v, first)])
        if isinstance(v, (list, tuple)) and v is not first and len(v) == len(first) else v for v in args
    ])
    out = _C.call_local(op, *args, **kwargs)
    if isinstance(out, (list, tuple)):
        some = _specs(args)[0]
        on_all = some.with_placements([Replicate()] * len(some.placements))
        return type(out)([_spread(o, _C.spec_of(v) or on_all, v.shape) for o, v in zip(out, first)])
    return out


def _elementwise(op, args, kwargs, name=""):
    """parts that lie alike give parts that lie so. Source: torch.distributed.tensor._ops._pointwise_ops"""
    in_place = op.__name__.endswith("_")
    linearity = _LINEARITY.get(name.rstrip("_"), _NOT_LINEAR)
    tensors = [v for v in args if isinstance(v, torch.Tensor)]
    _refuse_mixed(op.__name__, tensors)
    specs = _specs(list(args) + list(kwargs.values()))
    shape = _broadcast([tuple(v.shape) for v in tensors] or [specs[0].shape])
    # One operator in place says how the result lies; else the operand in most parts.
    followed = specs[0] if in_place else _followed(specs)
    missing = len(shape) - len(followed.shape)
    has_number = any([isinstance(v, (int, float, complex)) and not isinstance(v, bool) for v in args])
    made = []
    for p in followed.placements:
        if p.is_shard():
            made.append(_shifted(p, missing))
        elif p.is_partial() and not _keeps_partial(p, linearity, has_number):
            made.append(Replicate())
        else:
            made.append(p)
    seen, laid = False, []
    for v in args:
        spec = _C.spec_of(v) if isinstance(v, torch.Tensor) else None
        is_first = spec is followed and not seen
        seen = seen or is_first
        laid.append(v if spec is None else _laid_for(v, spec, made, shape, linearity == _PRODUCT and not is_first))
    args = tuple(laid)
    out = followed.with_placements(made).with_shape(shape)
    lies = {
        i: _of_operand(_C.spec_of(v), made, len(shape)) for i, v in enumerate(args)
        if isinstance(v, torch.Tensor) and _C.spec_of(v) is not None
    }
    return run(op, args, kwargs, out, lies, needs_sums(made) if linearity == _NOT_LINEAR else keeps_terms(made))


def _shifted(shard, by):
    return shard if by == 0 or type(shard) is not Shard else Shard(shard.dim + by)


def _keeps_partial(placement, linearity, has_number):
    """terms of a sum go through what is linear; a number would be added by each rank"""
    if linearity == _ANY:
        return True
    if linearity == _NOT_LINEAR or isinstance(placement, _NormPartial):
        return False
    return placement.reduce_op in ("sum", "avg") and not (linearity == _SUM and has_number)


def _followed(specs):
    """the one in most parts, of these the first with most dimensions"""
    best, most = None, (-1, -1)
    for spec in specs:
        parts = 1
        for dim, placement in enumerate(spec.placements):
            parts *= spec.mesh.size(dim) if placement.is_shard() else 1
        if (parts, len(spec.shape)) > most:
            best, most = spec, (parts, len(spec.shape))
    return best


def _laid_for(value, spec, laid, shape, is_factor):
    """an operand as the result lies; what is repeated along a dimension is whole there, and a factor has no terms"""
    missing, wanted = len(shape) - len(spec.shape), []
    for p in laid:
        if p.is_partial():
            wanted.append(Replicate() if is_factor else p)
        elif p.is_shard() and (p.dim < missing or spec.shape[p.dim - missing] != shape[p.dim]):
            wanted.append(Replicate())
        else:
            wanted.append(_shifted(p, -missing) if p.is_shard() else p)
    return value if wanted == list(spec.placements) else value.redistribute(placements=wanted)


def _of_operand(spec, made, ndim):
    """how the gradient of an operand lies: along what it was repeated, each rank has a term of a sum"""
    missing = ndim - len(spec.shape)

    def lies(arrived):
        return [
            now if not now.is_shard() else Shard(now.dim - missing)
            if now.dim >= missing and spec.shape[now.dim - missing] != 1 else Partial() for now in arrived
        ]

    return lies


def _moved(value, target):
    spec = _C.spec_of(value) if isinstance(value, torch.Tensor) else None
    if spec is None or target is None or spec.placements == target.placements or spec.shape != target.shape:
        return value
    return value.redistribute(placements=target.placements)


def _of_norm(norm_type):
    """how norms of parts lie"""
    if norm_type in ("inf", float("inf")):
        return Partial("max")
    if norm_type in ("-inf", float("-inf")):
        return Partial("min")
    return Partial("sum") if norm_type == 0 else _NormPartial(norm_type)


def _norm_placements(spec, norm_type):
    return [_of_norm(norm_type) if p.is_shard() else p for p in spec.placements]


def _foreach_norm(op, args, kwargs):
    norm_type = args[1] if len(args) > 1 else kwargs.get("ord", 2)
    tensors = [_for_norm(each, norm_type) for each in args[0]]
    out = _C.call_local(op, tensors, *args[1:], **kwargs)
    for norm, tensor in zip(out, tensors):
        spec = _C.spec_of(tensor)
        if spec is not None:
            _spread(norm, spec.with_placements(_norm_placements(spec, norm_type)).with_shape(()))
    return out


def _for_norm(value, norm_type):
    """terms of something else than such a norm are added up, and parts put together"""
    spec = _C.spec_of(value)
    if spec is None or all([not p.is_partial() or type(p) is Partial and p == _of_norm(norm_type)
                            for p in spec.placements]):
        return value
    return value.redistribute(placements=[Replicate()] * len(spec.placements))


def _merged(now, other):
    """where tensors lie that are put together: Partial before Shard before Replicate, and whole where they differ"""
    if now == other:
        return now
    if now.is_replicate() or now.is_partial() and other.is_shard():
        return other
    if now.is_shard() and not other.is_shard() or now.is_partial() and other.is_replicate():
        return now
    return Replicate()


def _stack(op, args, kwargs):
    """behind a new first dimension"""
    if args[1:] and args[1] != 0 or kwargs.get("dim", 0) != 0:
        _C.refuse("stack() of DTensors along another dimension than the first is not modelled", "use dim=0")
    specs = _specs(args)
    laid = list(specs[0].placements)
    for spec in specs[1:]:
        laid = [_merged(now, other) for now, other in zip(laid, spec.placements)]
    target = specs[0].with_placements(laid)
    out = _C.call_local(op, [_moved(t, target) for t in args[0]])
    made = [Shard(p.dim + 1) if p.is_shard() else p for p in laid]
    return _spread(out, specs[0].with_placements(made), (len(args[0]), *specs[0].shape))


def _vector_norm(op, args, kwargs):
    from torch.distributed.tensor._redistribute import redistribute_local_tensor

    norm_type = args[1] if len(args) > 1 else kwargs.get("ord", kwargs.get("p", 2))
    norm_type = 2 if norm_type is None or norm_type == "fro" else norm_type
    if len(args) > 2 and args[2] is not None or kwargs.get("dim") is not None:
        _C.refuse("a norm of a DTensor along some dimensions is not modelled", "take this rank's part: x.to_local()")
    local, spec = args[0], _C.spec_of(args[0])
    if any([p.is_partial() and not (type(p) is Partial and p == _of_norm(norm_type)) for p in spec.placements]):
        placements = [Replicate()] * len(spec.placements)
        local = redistribute_local_tensor(_C.local_of(local), spec, placements)
        spec = spec.with_placements(placements)
    out = _C.call_local(op, local, *args[1:], **kwargs)
    return _spread(out, spec.with_placements(_norm_placements(spec, norm_type)), ())


_contexts, _has_tracker = set(), []


def _like(op, args, kwargs):
    """a tensor like a DTensor, on a device that may be named"""
    _begin_context(kwargs.get("device"))
    return _elementwise(op, args, kwargs)


def _begin_context(device):
    """what PyTorch works shapes out with begins a context on a device when it is first named"""
    if device is not None and torch.device(device).type == "cuda":
        own = str(torch.device("cuda", torch.cuda.current_device()))
        for spelt in [str(device)] if ":" in str(device) else [str(device), own]:
            if spelt not in _contexts:
                _contexts.add(spelt)
                torch.empty(1, dtype=torch.float32, device=device)


def _cast(op, args, kwargs):
    """another type: the gradient's way back names the device"""
    x = args[0]
    spec = _C.spec_of(x)
    if spec is None:
        return _elementwise(op, args, kwargs, "to")
    made, device = list(spec.placements), x.device
    for target in [*args[1:], kwargs.get("device")]:
        if isinstance(target, (str, torch.device)) and torch.device(target).type != device.type:
            _begin_context(torch.device(torch.device(target).type, torch.cuda.current_device()))

    def wanted(arrived):
        _begin_context(device)
        return keeps_terms(made)(arrived)

    return run(op, args, kwargs, spec.with_placements(made), {0: _of_operand(spec, made, len(spec.shape))}, wanted)


def _random(op, args, kwargs):
    """random numbers of the whole: the generator's state is read first, on the device. Source:
    torch.distributed.tensor._random"""
    begin_random(not args[0].is_meta)
    return _elementwise(op, args, kwargs)


def begin_random(draws=True):
    device = torch.device("cuda", torch.cuda.current_device())
    if not _has_tracker:
        _has_tracker.append(True)
        _compare_states(device)
    if draws:
        _state(device)


def _state(device):
    return torch.empty(16, dtype=torch.uint8).to(device)


def _compare_states(device):
    rng_state = _state(device)
    my_rng_state = _state(device)
    my_rng_state == rng_state


# What an operator does to terms of a sum: nothing that is linear, adds, multiplies by what all have, takes them as any.
_NOT_LINEAR, _EACH, _SUM, _PRODUCT, _ANY = range(5)
_LINEARITY = {
    "to": _EACH, "neg": _EACH, "add": _SUM, "sub": _SUM, "mul": _PRODUCT, "div": _PRODUCT, "clone": _ANY,
    "detach": _ANY, "zero": _ANY, "fill": _ANY, "copy": _ANY,
}
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
    "true_divide", "gelu", "silu", "masked_fill", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite",
    "where", "_fused_update_", "_amp_unscale_",
}
_RANDOM = ("dropout", "normal_", "rand_like", "randn_like", "randint_like", "uniform_", "bernoulli", "bernoulli_")
_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like")
_RULES = {
    "linear": linear, "matmul": matmul, "mm": matmul, "__matmul__": matmul, "embedding": embedding,
    "layer_norm": norm, "rms_norm": norm, "softmax": softmax, "log_softmax": softmax, "cross_entropy": cross_entropy,
    "sum": reduction("sum"), "mean": reduction("avg"), "amax": reduction("max"), "amin": reduction("min"),
    "max": _extreme("max"), "min": _extreme("min"), "all": reduction("product"), "any": reduction("sum"),
    **{name: view for name in ("view", "reshape", "flatten", "unflatten")},
    **{name: permuted(name) for name in ("transpose", "permute", "t", "unsqueeze", "squeeze", "contiguous")},
    **{name: cut for name in ("chunk", "split", "narrow", "select", "unbind")},
    **{name: _random for name in _RANDOM}, **{name: _like for name in _LIKE},
    "to": _cast, "_foreach_norm": _foreach_norm, "stack": _stack, "linalg_vector_norm": _vector_norm,
    "norm": _vector_norm,
}
