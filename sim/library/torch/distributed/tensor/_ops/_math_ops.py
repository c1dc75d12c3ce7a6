import torch
import torch._C as _C
from torch.distributed.tensor._leaf import formula, kernel, part, spread, wants
from torch.distributed.tensor._redistribute import redistribute_local_tensor
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard, _NormPartial

# Source: torch.distributed.tensor._ops._math_ops


def norm(op, args, kwargs):
    """layer_norm and rms_norm: over what each rank has whole; of weights that all have, each rank has a term of the
    gradient"""
    given = {**dict(zip(("input", "normalized_shape", "weight"), args)), **kwargs}
    name = op.__name__
    given.update(dict(zip(("bias", "eps") if name == "layer_norm" else ("eps",), args[3:])))
    tensors = [given[key] for key in ("input", "weight", "bias") if given.get(key) is not None]
    if None in [_C.spec_of(t) for t in tensors]:
        raise RuntimeError(
            f"aten.native_{name}.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to "
            "DTensor before calling distributed operators!"
        )
    spec, sizes = _C.spec_of(tensors[0]), given["normalized_shape"]
    axis = len(spec.shape) - (1 if isinstance(sizes, int) else len(sizes))
    laid = [Replicate() if p.is_partial() or p.is_shard() and p.dim >= axis else p for p in spec.placements]
    whole = [Replicate()] * len(laid)
    of_weight = [Partial() if p.is_shard() else p for p in laid]

    def back(grad, operands, result):
        weights = len(operands) - 1
        return laid, [laid] + [whole] * weights, laid, [laid] + [of_weight] * weights

    named = {key: given[key] for key in ("input", "weight", "bias") if given.get(key) is not None}
    rest = {key: given[key] for key in ("normalized_shape", "eps") if given.get(key) is not None}
    expected = "NativeLayerNorm" if name == "layer_norm" else "FusedRmsNorm"
    of_operands = [laid] + [whole] * (len(tensors) - 1)
    if laid != list(spec.placements) and not wants(tensors) and not torch.is_inference_mode_enabled():
        return spread(_with_means(op, named, rest, of_operands), spec, laid)
    # By name, tensors first: in the order of `tensors`.
    return kernel(name, op, (), {**named, **rest}, of_operands, laid, back, None, expected)


def _with_means(op, named, rest, laid):
    """the means that the kernel returns too outlive what was laid out anew for it"""
    parts = {key: part(t, p) for (key, t), p in zip(named.items(), laid)}
    parts["input"] = _C.as_operand(parts["input"])
    with torch.enable_grad():
        out = op(**parts, **rest)
    parts = None
    return out.detach()


def softmax(op, args, kwargs):
    """along a dimension that each rank has whole"""
    x = args[0]
    spec = _C.spec_of(x)
    dim = args[1] if len(args) > 1 else kwargs["dim"]
    dim += len(spec.shape) if dim < 0 else 0

    def whole_along(placements):
        return [Replicate() if p.is_partial() or p.is_shard(dim) else p for p in placements]

    laid = whole_along(spec.placements)

    def back(grad, operands, result):
        shards = [_parts(s) for s in (grad, result)]
        target = whole_along(grad.placements if shards[0] >= shards[1] else result.placements)
        return target, [target], target, [target]

    name = op.__name__
    return kernel(name, op, args, kwargs, [laid], laid, back, None, "Softmax" if name == "softmax" else "LogSoftmax")


def _parts(spec):
    count = 1
    for dim, placement in enumerate(spec.placements):
        count *= spec.mesh.size(dim) if placement.is_shard() else 1
    return count


def _is_linear(spec, dims, kind):
    """reduced parts can be put together: all terms are of this kind, and of averages all parts are of one size"""
    if kind is None:
        return False
    for dim, p in enumerate(spec.placements):
        if p.is_partial() and p.reduce_op != kind:
            return False
    if kind == "avg":
        for d in dims:
            count = 1
            for dim, p in enumerate(spec.placements):
                count *= spec.mesh.size(dim) if p.is_shard(d) else 1
            if spec.shape[d] % count != 0:
                return False
    return True


def _reduced(op, args, kwargs, kind, dims, keeps):
    """(result, its node's kind of forward) of sums of parts, which are terms of the sum"""
    x, shape, made = args[0], [], []
    spec = _C.spec_of(x)
    laid = list(spec.placements)
    if not _is_linear(spec, dims, kind):
        laid = [Replicate() if p.is_partial() or p.is_shard() and p.dim in dims else p for p in laid]
    for p in laid:
        if not p.is_shard():
            made.append(p)
        elif p.dim in dims:
            made.append(Partial(kind))
        else:
            made.append(Shard(p.dim if keeps else p.dim - sum([d < p.dim for d in dims])))
    for i, size in enumerate(spec.shape):
        if i not in dims:
            shape.append(size)
        elif keeps:
            shape.append(1)
    return spread(op(part(x, laid), *args[1:], **kwargs), spec, made, tuple(shape))


def _with_dims(grad, dims, keeps):
    """along what was reduced one again"""
    if not keeps:
        for d in sorted(dims):
            grad = grad.unsqueeze(d)
    return grad


def reduction(kind):
    """sums, averages, extremes of parts. Gradients: derivatives.yaml"""

    def rule(op, args, kwargs):
        x = args[0]
        spec, ndim = _C.spec_of(x), x.dim()
        dims = args[1] if len(args) > 1 else kwargs.get("dim")
        keeps = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        is_whole = dims is None or dims == () or dims == []
        dims = list(range(ndim)) if is_whole else [dims] if isinstance(dims, int) else list(dims)
        dims = [d + ndim if d < 0 else d for d in dims]
        old, name = tuple(spec.shape), op.__name__
        count = 1
        for d in dims:
            count *= old[d]
        is_extreme = name in ("max", "min", "amax", "amin")

        def forward():
            out = _reduced(op, args, kwargs, kind, dims, keeps and not is_whole)
            node = f"{name.capitalize()}Backward{0 if is_whole and not is_extreme or name[0] == 'a' else 1}"
            return out, (x, out) if is_extreme else (), node

        def gradients(kept, needs, grad):
            if is_extreme:
                return (_of_extreme(grad, kept, dims, keeps, is_whole),)
            if not is_whole:
                grad = _with_dims(grad, dims, keeps)
            grad = grad.expand(old)
            return (grad / count if name == "mean" else grad,)

        if name in ("all", "any"):
            return forward()[0]
        if name == "prod" and torch.is_grad_enabled() and x.requires_grad:
            _C.refuse("the gradient of prod() of DTensors is not modelled", "take this rank's part: x.to_local()")
        return formula(name, (x,), forward, gradients)

    return rule


def variance(op, args, kwargs):
    """over what each rank has whole"""
    x = args[0]
    dims, keeps = kwargs.get("dim", args[1] if len(args) > 1 else None), kwargs.get("keepdim", False)
    ndim, is_whole = x.dim(), dims is None
    dims = list(range(ndim)) if is_whole else [dims] if isinstance(dims, int) else list(dims)
    dims = [d + ndim if d < 0 else d for d in dims]

    def forward():
        return _reduced(op, args, kwargs, None, dims, keeps and not is_whole), (x,), "VarBackward0"

    def gradients(kept, needs, grad):
        centre = kept[0].mean(dims, keepdim=True)
        difference = kept[0] - centre
        scaled = (grad if is_whole else _with_dims(grad, dims, keeps)) * 2.0
        out = scaled * difference
        del scaled
        del difference
        del centre
        return (out,)

    return formula("var", (x,), forward, gradients)


def _of_extreme(grad, kept, dims, keeps, is_whole):
    """shared among those that are as large"""
    x, result = kept
    if is_whole:
        # Source: evenly_distribute_backward of tensors of a subclass
        own = x.isnan()
        of_result = result.isnan()
        both = own.logical_and(of_result)
        mask = (x == result).logical_or_(both)
        count = mask.sum()
        share = grad / count
        out = mask * share
        del share
        del count
        del mask
        del both
        del of_result
        del own
        return out
    grad, result = _with_dims(grad, dims, keeps), _with_dims(result, dims, keeps)
    mask = result == x
    count = mask.sum(dims, keepdim=True)
    share = grad / count
    out = mask * share
    del share
    del count
    del mask
    return out


def _of_norm(norm_type):
    """how norms of parts lie"""
    if norm_type in ("inf", float("inf")):
        return Partial("max")
    if norm_type in ("-inf", float("-inf")):
        return Partial("min")
    return Partial("sum") if norm_type == 0 else _NormPartial(norm_type)


def _norm_placements(placements, norm_type):
    return [_of_norm(norm_type) if p.is_shard() else p for p in placements]


def _for_norm(spec, norm_type):
    """terms of something else than such a norm are added up, and parts put together"""
    if all([not p.is_partial() or type(p) is Partial and p == _of_norm(norm_type) for p in spec.placements]):
        return list(spec.placements)
    return [Replicate()] * len(spec.placements)


def foreach_norm(op, args, kwargs):
    norm_type = args[1] if len(args) > 1 else kwargs.get("ord", 2)
    specs = [_C.spec_of(t) for t in args[0]]
    laid = [None if s is None else _for_norm(s, norm_type) for s in specs]
    parts = [part(t, p) for t, p in zip(args[0], laid)]
    out = op(parts, *args[1:], **kwargs)
    for norm, spec, p in zip(out, specs, laid):
        if spec is not None:
            spread(norm, spec, _norm_placements(p, norm_type), ())
    return out


def vector_norm(op, args, kwargs):
    given = {**dict(zip(("input", "ord", "dim", "keepdim"), args)), **kwargs}
    norm_type = given.get("ord", given.get("p", 2))
    norm_type = 2 if norm_type is None or norm_type == "fro" else norm_type
    x, dim, keeps = args[0], given.get("dim"), given.get("keepdim", False)
    spec, ndim = _C.spec_of(x), x.dim()
    dims = list(range(ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    dims = [d + ndim if d < 0 else d for d in dims]
    laid = _for_norm(spec, norm_type)
    shape = tuple([1 if i in dims else n for i, n in enumerate(spec.shape) if keeps or i not in dims])
    made = []
    for p in laid:
        if p.is_shard() and p.dim in dims:
            made.append(_of_norm(norm_type))
        else:
            gone = 0 if keeps or not p.is_shard() else sum([d < p.dim for d in dims])
            made.append(Shard(p.dim - gone) if gone else p)

    def forward():
        out = op(part(x, laid), *args[1:], **kwargs)
        return spread(out, spec, made, shape), (x, out), "LinalgVectorNormBackward0"

    def gradients(kept, needs, grad):
        if norm_type not in (1, 2):
            _C.refuse("the gradient of this norm of a DTensor is not modelled", "take this rank's part: x.to_local()")
        x, result = kept
        if dim is not None:
            grad, result = _with_dims(grad, dims, keeps), _with_dims(result, dims, keeps)
        if norm_type == 1:
            sign = x.sgn()
            return (sign * grad,)
        unit = x / result
        nothing = result == 0
        unit.masked_fill_(nothing, 0)
        out = grad * unit
        del nothing
        del unit
        return (out,)

    return formula("linalg_vector_norm", (x,), forward, gradients)


def whole_only(op, args, kwargs):
    """of what each rank has whole. Source: linalg_replicate_strategy"""
    whole = [Replicate()] * len(_C.spec_of(args[0]).placements)
    back = lambda grad, operands, result: (whole, [whole], whole, [whole])
    return kernel(op.__name__, op, args, kwargs, [whole], whole, back)
