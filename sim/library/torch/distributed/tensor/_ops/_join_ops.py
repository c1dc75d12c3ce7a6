import torch
import torch._C as _C
from torch.distributed.tensor._leaf import formula, on_parts, part, specs_of, spread
from torch.distributed.tensor._ops._pointwise_ops import refuse_mixed
from torch.distributed.tensor._ops._view_ops import merged
from torch.distributed.tensor._strategy import pick
from torch.distributed.tensor.placement_types import Replicate, Shard

# Source: torch.distributed.tensor._ops._tensor_ops: cat_strategy, stack_strategy


def _joined(name, op, tensors, dim, laid, made, shape, node, gradients):
    def forward():
        parts = [part(t, laid) for t in tensors]
        out = op(parts, dim=dim)
        while parts:
            parts.pop()
        return spread(out, _C.spec_of(tensors[0]), made, shape), (), node

    return formula(name, tuple(tensors), forward, gradients)


def _given(args, kwargs, name):
    tensors = list(args[0] if args else kwargs["tensors"])
    refuse_mixed(f"{name}.default", tensors)
    dim = args[1] if len(args) > 1 else kwargs.get("dim", 0)
    return tensors, dim


def cat(op, args, kwargs):
    tensors, dim = _given(args, kwargs, "cat")
    dim = dim + tensors[0].dim() if dim < 0 else dim
    specs, ways = specs_of(tensors), []
    for spec in specs:
        way = [Replicate() if p.is_shard(dim) else p for p in spec.placements]
        if way not in ways:
            ways.append(way)
    laid = pick(specs, [[way] * len(specs) for way in ways])[0]
    sizes = [t.shape[dim] for t in tensors]
    shape = tuple([sum(sizes) if i == dim else n for i, n in enumerate(tensors[0].shape)])

    def gradients(kept, needs, grad):
        out, start = [], 0
        for need, size in zip(needs, sizes):
            out.append(grad.narrow(dim, start, size) if need else None)
            start += size
        return tuple(out)

    return _joined("cat", torch.cat, tensors, dim, laid, laid, shape, "CatBackward0", gradients)


def stack(op, args, kwargs):
    tensors, dim = _given(args, kwargs, "stack")
    dim = dim + tensors[0].dim() + 1 if dim < 0 else dim
    specs = specs_of(tensors)
    laid = list(specs[0].placements)
    for spec in specs[1:]:
        laid = [merged(now, other) for now, other in zip(laid, spec.placements)]
    made = [Shard(p.dim + 1) if p.is_shard() and p.dim >= dim else p for p in laid]
    shape = (*tensors[0].shape[:dim], len(tensors), *tensors[0].shape[dim:])
    gradients = lambda kept, needs, grad: grad.unbind(dim)
    return _joined("stack", torch.stack, tensors, dim, laid, made, shape, "StackBackward0", gradients)


def padded(op, args, kwargs):
    """pad with a number: every rank has the whole. Source: constant_pad_nd_strategy, which knows one dimension of a
    mesh; constant_pad_nd_backward"""
    given = {**dict(zip(("input", "pad", "mode", "value"), args)), **kwargs}
    x, sizes = given["input"], tuple(given["pad"])
    spec = _C.spec_of(x)
    if given.get("mode", "constant") != "constant" or len(spec.placements) != 1:
        _C.refuse("pad() of this DTensor is not modelled", "take this rank's part: x.to_local()")
    whole, number = [Replicate()], given.get("value")

    def forward():
        out = op(part(x, whole), sizes, "constant", number)
        return spread(out, spec, whole, tuple(out.shape)), (), "ConstantPadNdBackward0"

    back = lambda kept, needs, grad: (op(grad, tuple([-n for n in sizes]), "constant", 0.0),)
    return formula("constant_pad_nd", (x,), forward, back)
