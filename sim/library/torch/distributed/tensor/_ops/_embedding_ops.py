import torch
import torch._C as _C
from torch.autograd.function import Function
from torch.distributed.tensor._leaf import kernel, part, spread
from torch.distributed.tensor._strategy import cheapest
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard, _MaskPartial

# Source: torch.distributed.tensor._ops._embedding_ops

_MASKED = _MaskPartial()


def _ways(ndim):
    """of (result, table, indices)"""
    whole, by_columns = [Replicate()] * 3, [Shard(ndim), Shard(1), Replicate()]
    by_rows = [_MASKED, Shard(0), _MASKED]
    return [whole, by_columns, by_rows, *[[Shard(d), Replicate(), Shard(d)] for d in range(ndim)]]


def _ways_back(ndim):
    """of (gradient of the table, of the result, indices)"""
    whole, by_columns = [Replicate()] * 3, [Shard(1), Shard(ndim), Replicate()]
    terms = [Partial(), Partial(), Replicate()]
    return [whole, by_columns, *[[Partial(), Shard(d), Shard(d)] for d in range(ndim)], terms]


def embedding(op, args, kwargs):
    """by the table's columns the result has parts of its last dimension, by its rows masked terms of a sum; else it
    lies as the indices do"""
    indices, weight = args[0], args[1]
    spec, table = _C.spec_of(indices), _C.spec_of(weight)
    if spec is None or table is None:
        raise RuntimeError(
            "aten.embedding.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor "
            "before calling distributed operators!"
        )
    ndim = len(spec.shape)
    made, laid = cheapest([table, spec], _ways(ndim))
    by_rows = [dim for dim, p in enumerate(laid[1]) if p is _MASKED]
    if by_rows:
        return _RowwiseEmbedding.apply(weight, indices, op, args[2:], kwargs, by_rows, made[0], laid)

    def back(grad, operands, result):
        of_table, ways = cheapest([grad, operands[0]], _ways_back(ndim))
        return ways[0], [ways[1], None], None, [None, of_table[0]]

    shape = (*spec.shape, table.shape[1])
    return kernel("embedding", op, args, kwargs, [laid[1], laid[0]], made[0], back, shape, "Embedding")


class _RowwiseEmbedding(Function):
    """each rank looks up what lies in its rows; the gradient of the table is that of the whole table"""

    @staticmethod
    def forward(ctx, weight, indices, op, rest, kwargs, by_rows, made, laid):
        spec, table = _C.spec_of(indices), _C.spec_of(weight)
        ctx.save_for_backward(indices)
        ctx.table, ctx.spec, ctx.scaled = table, spec, rest[3] if len(rest) > 3 else False
        ctx.padding = (rest[0] if rest else kwargs.get("padding_idx")) or -1
        made, own = list(made), [Replicate() if p is _MASKED else p for p in laid[1]]
        local = part(indices, own)
        for dim in by_rows:
            made[dim] = _MaskPartial(offset_shape=table.shape, offset_dim=0)
            local = made[dim]._partition_value(local, table.mesh, dim)
        out = op(local, part(weight, laid[0]), *rest, **kwargs)
        del local
        return spread(out, spec, made, (*spec.shape, table.shape[1]))

    @staticmethod
    def backward(ctx, grad):
        indices, = ctx.saved_tensors
        of_table, ways = cheapest([_C.spec_of(grad), ctx.spec], _ways_back(len(ctx.spec.shape)))
        local = _C.embedding_backward(
            part(grad, ways[0]), part(indices, ways[1]), ctx.table.shape[0], ctx.padding, ctx.scaled
        )
        return spread(local, ctx.table, of_table[0]), None, None, None, None, None, None, None
