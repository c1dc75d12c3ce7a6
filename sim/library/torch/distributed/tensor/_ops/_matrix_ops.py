import torch
import torch._C as _C
from torch.distributed.tensor._gradients import keeps_terms, run
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard

# Source: torch.distributed.tensor._ops._matrix_ops


def linear(op, args, kwargs):
    """by the weight's rows the result has parts of its columns, by its columns it has terms of a sum"""
    x, weight = args[0], args[1]
    bias = args[2] if len(args) > 2 else kwargs.get("bias")
    spec, w = _C.spec_of(x), _C.spec_of(weight)
    if spec is None or w is None:
        _C.refuse("linear() of a tensor and a DTensor is not modelled", "make both DTensors: DTensor.from_local")
    last, laid = len(spec.shape) - 1, list(spec.placements)
    for dim, placement in enumerate(w.placements):
        if placement.is_shard(0):
            laid[dim] = Replicate()
        elif placement.is_shard(1):
            laid[dim] = Shard(last)
        elif laid[dim].is_shard(last) or laid[dim].is_partial():
            laid[dim] = Replicate()
    if laid != list(spec.placements):
        x = x.redistribute(placements=laid)
        spec = _C.spec_of(x)
    made, divided = [], None
    for dim, placement in enumerate(w.placements):
        if placement.is_shard(0):
            made.append(type(placement)(last) if type(placement) is Shard else placement)
        elif placement.is_shard(1):
            made.append(Partial())
            if bias is not None:
                with torch.no_grad():
                    divided = _C.local_of(bias) / w.mesh.size(dim)
        else:
            made.append(laid[dim])

    def of_input(arrived):
        return [
            Partial() if p.is_shard(0) or now.is_partial() and own.is_replicate() else own
            for now, p, own in zip(arrived, w.placements, laid)
        ]

    def of_weight(arrived):
        return [
            p if p.is_shard() else Partial() if own.is_shard() or now.is_partial() else Replicate()
            for now, p, own in zip(arrived, w.placements, laid)
        ]

    def of_bias(arrived):
        return [
            Shard(0) if p.is_shard(0) else Partial() if own.is_shard() and not p.is_shard(1) or now.is_partial()
            else Replicate() for now, p, own in zip(arrived, w.placements, laid)
        ]

    out = spec.with_placements(made).with_shape((*spec.shape[:-1], w.shape[0]))
    given = (x, weight) if bias is None else (x, weight, bias)
    made_out = run(op, given, {}, out, {0: of_input, 1: of_weight, 2: of_bias}, keeps_terms(made))
    del divided
    return made_out


def matmul(op, args, kwargs):
    """of two matrices, or of rows of any shape by a matrix"""
    a, b = args[0], args[1]
    left, right = _C.spec_of(a), _C.spec_of(b)
    if left is None or right is None or len(right.shape) != 2 or len(left.shape) < 2:
        _C.refuse(
            "a product of DTensors other than by a matrix is not modelled", "take this rank's part: x.to_local()"
        )
    last = len(left.shape) - 1
    of_a, of_b, made = [], [], []
    for p, q in zip(left.placements, right.placements):
        if p.is_shard(last) or q.is_shard(0):
            of_a.append(Shard(last)), of_b.append(Shard(0)), made.append(Partial())
        elif p.is_shard():
            of_a.append(p), of_b.append(Replicate()), made.append(p)
        elif q.is_shard(1):
            of_a.append(Replicate()), of_b.append(q), made.append(Shard(last))
        else:
            of_a.append(Replicate()), of_b.append(Replicate()), made.append(Replicate())
    a = a if of_a == list(left.placements) else a.redistribute(placements=of_a)
    b = b if of_b == list(right.placements) else b.redistribute(placements=of_b)

    def of_left(arrived):
        return [
            Partial() if q.is_shard(1) or now.is_partial() and p.is_replicate() else p
            for now, p, q in zip(arrived, of_a, of_b)
        ]

    def of_right(arrived):
        return [
            q if q.is_shard() else Partial() if p.is_shard() or now.is_partial() else q
            for now, p, q in zip(arrived, of_a, of_b)
        ]

    out = left.with_placements(made).with_shape((*left.shape[:-1], right.shape[1]))
    return run(op, (a, b), kwargs, out, {0: of_left, 1: of_right}, keeps_terms(made))
