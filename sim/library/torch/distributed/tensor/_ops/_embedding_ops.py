import torch
import torch._C as _C
from torch.autograd.function import Function
from torch.distributed.tensor._gradients import follows, keeps_terms, run, spread
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard, _MaskPartial

# Source: torch.distributed.tensor._ops._embedding_ops


def embedding(op, args, kwargs):
    """by the table's columns the result has parts of its last dimension, by its rows masked terms of a sum; else it lies
    as the indices do"""
    indices, weight = args[0], args[1]
    spec, table = _C.spec_of(indices), _C.spec_of(weight)
    if spec is None or table is None:
        _C.refuse("embedding() of a tensor and a DTensor is not modelled", "make both DTensors: DTensor.from_local")
    by_rows = [dim for dim, p in enumerate(table.placements) if p.is_shard(0)]
    if by_rows:
        return _RowwiseEmbedding.apply(weight, indices, op, args[2:], kwargs, by_rows)
    made = [
        Shard(len(spec.shape)) if p.is_shard(1) else own for p, own in zip(table.placements, spec.placements)
    ]
    out = spec.with_placements(made).with_shape((*spec.shape, table.shape[1]))

    def of_table(arrived):
        return [
            own if own.is_shard() else Partial() if now.is_partial() or index.is_shard() else Replicate()
            for now, own, index in zip(arrived, table.placements, spec.placements)
        ]

    return run(op, args, kwargs, out, {1: of_table}, keeps_terms(made))


class _RowwiseEmbedding(Function):
    """each rank looks up what lies in its rows; the gradient of the table is that of the whole table"""

    @staticmethod
    def forward(ctx, weight, indices, op, rest, kwargs, by_rows):
        spec, table = _C.spec_of(indices), _C.spec_of(weight)
        ctx.save_for_backward(indices)
        ctx.table, ctx.spec, ctx.scaled = table, spec, rest[3] if len(rest) > 3 else False
        ctx.padding = (rest[0] if rest else kwargs.get("padding_idx")) or -1
        made, local = list(spec.placements), _C.local_of(indices)
        for dim in by_rows:
            made[dim] = _MaskPartial(offset_shape=table.shape, offset_dim=0)
            local = made[dim]._partition_value(local, table.mesh, dim)
        out = op(local, _C.local_of(weight), *rest, **kwargs)
        del local
        return spread(out, spec.with_placements(made).with_shape((*spec.shape, table.shape[1])))

    @staticmethod
    def backward(ctx, grad):
        indices, = ctx.saved_tensors
        spec = _C.spec_of(grad)
        arrived = list(spec.placements)
        laid = [
            Partial() if p.is_partial() or p.is_shard() and p.dim < len(ctx.spec.shape) else Shard(1)
            if p.is_shard() else p for p in arrived
        ]
        parts = [p if p.is_shard() and p.dim < len(ctx.spec.shape) else Replicate() for p in arrived]
        if parts != list(ctx.spec.placements):
            indices = indices.redistribute(placements=parts)
        local = _C.embedding_backward(
            _C.local_of(grad), _C.local_of(indices), ctx.table.shape[0], ctx.padding, ctx.scaled
        )
        return spread(local, ctx.table.with_placements(laid)), None, None, None, None, None
