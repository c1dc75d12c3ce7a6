import torch
import torch._C as _C
from torch.distributed.tensor._random import begin_random
from torch.distributed.tensor._leaf import formula, kernel, part, specs_of, spread
from torch.distributed.tensor._strategy import cheapest
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard

# Source: torch.distributed.tensor._ops._matrix_ops; products of more dimensions are made of mm, addmm and bmm as
# at::linear and at::matmul make them.

_TERMS = [
    row for op in ("sum", "avg") for row in (
        [Partial(op), Partial(op), Replicate()], [Partial(op), Replicate(), Partial(op)]
    )
]
_MM = [
    [Replicate(), Replicate(), Replicate()], [Partial(), Shard(1), Shard(0)], [Shard(0), Shard(0), Replicate()],
    [Shard(1), Replicate(), Shard(1)], *_TERMS,
]
_MM_WAYS = tuple([tuple(row) for row in _MM])
_BMM = [
    [Replicate(), Replicate(), Replicate()], [Shard(0), Shard(0), Shard(0)], [Partial(), Shard(2), Shard(1)],
    [Shard(1), Shard(1), Replicate()], [Shard(2), Replicate(), Shard(2)], *_TERMS,
]


def _both(name, *tensors):
    if None in [_C.spec_of(t) for t in tensors]:
        raise RuntimeError(
            f"aten.{name}.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor "
            "before calling distributed operators!"
        )


def _run(op, tensors, laid, made, shape):
    parts = [part(t, p) for t, p in zip(tensors, laid)]
    out = op(*parts)
    while parts:
        parts.pop()
    return spread(out, _C.spec_of(tensors[-1]), made, shape)


def _is_column_major(tensor):
    spec = _C.spec_of(tensor)
    return spec.stride[0] == 1 and spec.stride[1] == spec.shape[0]


def _of_left(grad, right, is_column_major):
    return right.mm(grad.t()).t() if is_column_major else grad.mm(right.t())


def _of_right(grad, left, is_column_major):
    return grad.t().mm(left).t() if is_column_major else left.t().mm(grad)


def _kept(a, b):
    """each factor for the other's gradient, where that is wanted"""
    return b if a.requires_grad else None, a if b.requires_grad else None


def mm(op, args, kwargs):
    a, b = [*args, *kwargs.values()]
    _both("mm", a, b)
    flags, ways = [_is_column_major(a), _is_column_major(b)], []

    def forward():
        made, laid = cheapest([_C.spec_of(a), _C.spec_of(b)], _MM_WAYS)
        ways.extend(laid)
        out = _run(torch.mm, (a, b), laid, made[0], (a.shape[0], b.shape[1]))
        return out, (), "MmBackward0"

    def gradients(kept, needs, grad):
        of_right = _of_right(grad, kept[1], flags[1]) if needs[1] else None
        return _of_left(grad, kept[0], flags[0]) if needs[0] else None, of_right

    out = formula("mm", (a, b), forward, gradients, _kept(a, b))
    specs = [_C.spec_of(t) for t in (a, b)]
    if not kwargs and all([s.is_shared and s.placements == tuple(way) for s, way in zip(specs, ways)]):
        _C.keep_product(op, args, out, *flags)
    return out


def addmm(op, args, kwargs):
    bias, a, b = args
    _both("addmm", bias, a, b)
    flags = [_is_column_major(a), _is_column_major(b)]
    shape = (a.shape[0], b.shape[1])

    def forward():
        specs = [_C.spec_of(t) for t in (bias, a, b)]
        rows = [[row[0], _of_bias(row[0], specs[0].shape, shape), *row[1:]] for row in _MM]
        made, laid = cheapest(specs, rows)
        out = _run(torch.addmm, (bias, a, b), laid, made[0], shape)
        return out, (), "AddmmBackward0"

    def gradients(kept, needs, grad):
        of_left = _of_left(grad, kept[1], flags[0]) if needs[1] else None
        of_right = _of_right(grad, kept[0], flags[1]) if needs[2] else None
        return grad if needs[0] else None, of_left, of_right

    # Nodes keep and drop by the names of operands: mat1 before mat2, where mm has mat2 before self.
    return formula("addmm", (bias, a, b), forward, gradients, _kept(b, a))


def _of_bias(placement, own, shape):
    """what is added lies as the result does, whole along what it is repeated"""
    if not placement.is_shard():
        return placement
    at = placement.dim - (len(shape) - len(own))
    return Shard(at) if at >= 0 and own[at] == shape[placement.dim] else Replicate()


def bmm(op, args, kwargs):
    a, b = args
    _both("bmm", a, b)

    def forward():
        made, laid = cheapest([_C.spec_of(a), _C.spec_of(b)], _BMM)
        out = _run(torch.bmm, (a, b), laid, made[0], (*a.shape[:2], b.shape[2]))
        return out, (), "BmmBackward0"

    def gradients(kept, needs, grad):
        of_right = kept[1].transpose(1, 2).bmm(grad) if needs[1] else None
        return grad.bmm(kept[0].transpose(1, 2)) if needs[0] else None, of_right

    return formula("bmm", (a, b), forward, gradients, _kept(a, b))


def baddbmm(op, args, kwargs):
    """a product of batches added to what may be repeated. Source: baddbmm_strategy"""
    if len(args) != 3 or kwargs:
        _C.refuse("baddbmm() of DTensors with factors is not modelled", "multiply before: bias * beta + a.bmm(b)")
    bias, a, b = args
    _both("baddbmm", bias, a, b)
    shape = (*a.shape[:2], b.shape[2])

    def forward():
        specs = [_C.spec_of(t) for t in (bias, a, b)]
        rows = [[row[0], _of_bias(row[0], specs[0].shape, shape), *row[1:]] for row in _BMM]
        made, laid = cheapest(specs, rows)
        return _run(torch.baddbmm, (bias, a, b), laid, made[0], shape), (), "BaddbmmBackward0"

    def gradients(kept, needs, grad):
        of_left = grad.bmm(kept[1].transpose(1, 2)) if needs[1] else None
        of_right = kept[0].transpose(1, 2).bmm(grad) if needs[2] else None
        return grad if needs[0] else None, of_left, of_right

    return formula("baddbmm", (bias, a, b), forward, gradients, _kept(b, a))


# What PyTorch finds by taking mv apart: (a * b).sum(1). Source: DecompShardingStrategy
_MV_WAYS = (
    (Replicate(), Replicate(), Replicate()), (Shard(0), Shard(0), Replicate()), (Partial(), Shard(1), Shard(0))
)


def mv(op, args, kwargs):
    a, b = [*args, *kwargs.values()]
    _both("mv", a, b)
    if any([p.is_partial() for t in (a, b) for p in _C.spec_of(t).placements]):
        _C.refuse("mv() of terms of sums is not modelled", "redistribute them: x.redistribute(placements=...)")

    def forward():
        made, laid = cheapest([_C.spec_of(a), _C.spec_of(b)], _MV_WAYS)
        return _run(torch.mv, (a, b), laid, made[0], (a.shape[0],)), (), "MvBackward0"

    def gradients(kept, needs, grad):
        of_matrix = torch.outer(grad, kept[0]) if needs[0] else None
        return of_matrix, kept[1].t().mv(grad) if needs[1] else None

    return formula("mv", (a, b), forward, gradients, _kept(a, b))


def outer(op, args, kwargs):
    """a product of a column and a row. Source: at::outer"""
    column, row = [*args, *kwargs.values()]
    return column.reshape((column.shape[0], 1)) * row


def linear(op, args, kwargs):
    """Source: at::linear"""
    given = {**dict(zip(("input", "weight", "bias"), args)), **kwargs}
    x, weight, bias = given["input"], given["weight"], given.get("bias")
    _both("addmm" if bias is not None else "mm", *[t for t in (x, weight, bias) if t is not None])
    if bias is None:
        return matmul(op, (x, weight.t()), {})
    if x.dim() == 2:
        return torch.addmm(bias, x, weight.t())
    if x.is_contiguous():
        rows = x.view((-1, x.shape[-1])) if x.dim() != 1 else x.view((1, x.shape[-1]))
        return torch.addmm(bias, rows, weight.t()).view((*x.shape[:-1], weight.shape[0]))
    return matmul(op, (x, weight.t()), {}) + bias


def matmul(op, args, kwargs):
    """Source: at::matmul"""
    a, b = [*args, *kwargs.values()]
    _both("mm", a, b)
    if a.dim() == 2 and b.dim() == 2:
        return torch.mm(a, b)
    if a.dim() == 2 and b.dim() == 1:
        return torch.mv(a, b)
    if a.dim() > 2 and b.dim() == 2:
        rows = a.reshape((-1, a.shape[-1]))
        return _unsafe_view(torch.mm(rows, b), (*a.shape[:-1], b.shape[1]))
    if a.dim() > 2 and b.dim() == a.dim() and tuple(a.shape[:-2]) == tuple(b.shape[:-2]):
        if a.dim() == 3:
            return torch.bmm(a, b)
        left, right = [t.expand(tuple(t.shape)).reshape((-1, *t.shape[-2:])) for t in (a, b)]
        return _unsafe_view(torch.bmm(left, right), (*a.shape[:-1], b.shape[-1]))
    _C.refuse("a product of DTensors of these shapes is not modelled", "take this rank's part: x.to_local()")


def _unsafe_view(tensor, shape):
    from torch.distributed.tensor._ops._view_ops import viewed

    known = _C.known_op(_unsafe_view, (tensor, shape))
    if known is not None:
        return known
    return viewed(tensor, shape, "UnsafeViewBackward0", True, (_unsafe_view, (tensor, shape), {}))


_ATTENTION = [[p] * 4 for p in (Replicate(), Shard(1), Shard(0))]


def attention(op, args, kwargs):
    """by heads or by sequences"""
    given = {**dict(zip(("query", "key", "value"), args)), **kwargs}
    tensors = [given.pop(name) for name in ("query", "key", "value")]
    given.update(dict(zip(("attn_mask", "dropout_p", "is_causal"), args[3:])))
    _both("_scaled_dot_product_flash_attention", *tensors)
    if given.get("attn_mask") is not None:
        _C.refuse("attention of DTensors with a mask is not modelled", "take this rank's parts: x.to_local()")
    if given.get("dropout_p", 0.0) > 0.0:
        begin_random()
    made, laid = cheapest([_C.spec_of(t) for t in tensors], _ATTENTION)
    shape = (*tensors[0].shape[:-1], tensors[2].shape[-1])

    def back(grad, operands, result):
        ways = cheapest([grad, *operands, result], [[p] * 8 for p in (Replicate(), Shard(1), Shard(0))])
        return ways[1][0], ways[1][1:4], ways[1][4], ways[0]

    name = "scaled_dot_product_attention"
    return kernel(name, op, tensors, given, laid, made[0], back, shape, "ScaledDotProduct")
