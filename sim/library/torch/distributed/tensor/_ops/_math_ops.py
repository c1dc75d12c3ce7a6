import _tidemark
import torch
import torch._C as _C
from torch.distributed.tensor._gradients import follows, keeps_terms, needs_sums, run
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard

# Source: torch.distributed.tensor._ops._math_ops

_SUMMED_UP = (
    "a DTensor is summed up with gradients: where its parts lie in backward is modelled in part, and the memory may be "
    "wrong (docs/ranks.md)"
)


def norm(op, args, kwargs):
    """layer_norm and rms_norm: over what each rank has whole; of weights that all have, each rank has a term of the
    gradient"""
    x = args[0]
    spec = _C.spec_of(x)
    if spec is None:
        _C.refuse("a norm of a tensor with DTensor weights is not modelled", "make it a DTensor: DTensor.from_local")
    axis = len(spec.shape) - len(args[1])
    laid = [Replicate() if p.is_partial() or p.is_shard() and p.dim >= axis else p for p in spec.placements]
    if laid != list(spec.placements):
        x = x.redistribute(placements=laid)
        args, spec = (x, *args[1:]), _C.spec_of(x)
    names = ("weight", "bias")
    tensors = [*args, *[kwargs.get(name) for name in names if name in kwargs]]
    of_weight = lambda arrived: [Partial() if p.is_shard() else p for p in laid]
    lies = {i: of_weight for i, t in enumerate(tensors) if i > 1 and isinstance(t, torch.Tensor)}
    lies[0] = lambda arrived: laid
    return run(op, tuple(tensors), {k: v for k, v in kwargs.items() if k not in names}, spec, lies, needs_sums(laid))


def softmax(op, args, kwargs):
    """along a dimension that each rank has whole"""
    x = args[0]
    spec = _C.spec_of(x)
    dim = args[1] if len(args) > 1 else kwargs["dim"]
    dim += len(spec.shape) if dim < 0 else 0
    laid = [Replicate() if p.is_partial() or p.is_shard(dim) else p for p in spec.placements]
    if laid != list(spec.placements):
        x = x.redistribute(placements=laid)
        spec = _C.spec_of(x)
    return run(op, (x, *args[1:]), kwargs, spec, {0: follows(laid, laid)}, needs_sums(laid))


def _is_linear(spec, dims, kind):
    """reduced parts can be put together: all terms are of this kind, and of averages all parts are of one size"""
    for dim, p in enumerate(spec.placements):
        if p.is_partial() and p.reduce_op != kind:
            return False
        if kind == "avg" and p.is_shard() and p.dim in dims and spec.shape[p.dim] % spec.mesh.size(dim) != 0:
            return False
    return True


def reduction(kind):
    """sums of parts are terms of the sum"""

    def rule(op, args, kwargs):
        x = args[0]
        spec = _C.spec_of(x)
        dims = args[1] if len(args) > 1 else kwargs.get("dim")
        keeps = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        whole = dims is None
        if whole and x.requires_grad and torch.is_grad_enabled():
            _tidemark.note(_SUMMED_UP)
        ndim = len(spec.shape)
        dims = list(range(ndim)) if whole else [dims] if isinstance(dims, int) else list(dims)
        dims = [d + ndim if d < 0 else d for d in dims]
        if not _is_linear(spec, dims, kind):
            x = x.redistribute(placements=[
                Replicate() if p.is_partial() or p.is_shard() and p.dim in dims else p for p in spec.placements
            ])
            spec = _C.spec_of(x)
        made, shape = [], []
        for p in spec.placements:
            if not p.is_shard():
                made.append(p)
            elif p.dim in dims:
                made.append(Partial(kind))
            else:
                made.append(Shard(p.dim if keeps else p.dim - sum([d < p.dim for d in dims])))
        for i, size in enumerate(spec.shape):
            if i not in dims:
                shape.append(size)
            elif keeps and not whole:
                shape.append(1)
        own = list(spec.placements)
        out = spec.with_placements(made).with_shape(tuple(shape))
        return run(op, (x, *args[1:]), kwargs, out, {0: follows(own, made)}, keeps_terms(made))

    return rule
