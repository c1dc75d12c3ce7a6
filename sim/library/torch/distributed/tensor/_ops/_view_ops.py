import torch
import torch._C as _C
from torch.distributed.tensor._gradients import follows, keeps_terms, run
from torch.distributed.tensor.placement_types import Replicate, Shard

# Source: torch.distributed.tensor._ops._view_ops


def view(op, args, kwargs):
    """view, reshape, flatten, unflatten: parts of what is first of the dimensions that go together stay such"""
    x = args[0]
    spec = _C.spec_of(x)
    shape = tuple(op(torch.empty(spec.shape, device="meta"), *args[1:], **kwargs).shape)
    x, spec, made = _shown(x, spec, _moves(spec, shape))
    out = spec.with_placements(made).with_shape(shape)
    own = list(spec.placements)
    lies = {0: follows(own, made)}
    return run(lambda t: t.reshape(out.local_shape()), (x,), {}, out, lies, keeps_terms(made))


def _moves(spec, shape):
    """by dimension of the whole: where parts of it are found in the view, None: nowhere"""
    moves, i, j = {}, 0, 0
    old, new = list(spec.shape), list(shape)
    while i < len(old) and j < len(new):
        ins, outs, a, b = [i], [j], old[i], new[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a *= old[i]
                ins.append(i)
                i += 1
            else:
                b *= new[j]
                outs.append(j)
                j += 1
        first = ([d for d in ins if old[d] != 1] or ins)[0]
        target = ([d for d in outs if new[d] != 1] or outs)[0]
        moves[first] = target
    return moves


def _shown(x, spec, moves, shape=None):
    """what a view looks at: where parts would be torn, the whole; and how the view lies"""
    laid = [Replicate() if p.is_shard() and moves.get(p.dim) is None else p for p in spec.placements]
    if laid != list(spec.placements):
        x = x.redistribute(placements=laid)
        spec = _C.spec_of(x)
    return x, spec, [Shard(moves[p.dim]) if p.is_shard() else p for p in laid]


def permuted(name):
    """dimensions in another order, added or left out"""

    def rule(op, args, kwargs):
        x = args[0]
        spec = _C.spec_of(x)
        # Each dimension has a size of its own, by which it is found again.
        sizes = [i + 2 for i in range(len(spec.shape))]
        if "squeeze" in name and "un" not in name:
            sizes = [1 if n == 1 else s for n, s in zip(spec.shape, sizes)]
        seen = list(op(torch.empty(sizes, device="meta"), *args[1:], **kwargs).shape)
        moves = {i: seen.index(s) for i, s in enumerate(sizes) if s in seen and s != 1}
        shape = tuple([1 if s == 1 else spec.shape[sizes.index(s)] for s in seen])
        x, spec, made = _shown(x, spec, moves)
        out = spec.with_placements(made).with_shape(shape)
        lies = {0: follows(list(spec.placements), made)}
        return run(op, (x, *args[1:]), kwargs, out, lies, keeps_terms(made))

    return rule


def cut(op, args, kwargs):
    """chunk, split, narrow, select, unbind: along a dimension that each rank has whole"""
    x = args[0]
    spec = _C.spec_of(x)
    whole = op(torch.empty(spec.shape, device="meta"), *args[1:], **kwargs)
    parts = whole if isinstance(whole, (tuple, list)) else [whole]
    goes = len(parts[0].shape) < len(spec.shape)  # a dimension is left out
    dim = kwargs.get("dim", args[1] if op.__name__ in ("select", "narrow", "unbind") and len(args) > 1
                     else args[2] if len(args) > 2 else 0)
    dim += len(spec.shape) if dim < 0 else 0
    moves = {i: i - 1 if goes and i > dim else i for i in range(len(spec.shape)) if i != dim}
    x, spec, made = _shown(x, spec, moves)
    if not isinstance(whole, (tuple, list)):
        out = spec.with_placements(made).with_shape(tuple(whole.shape))
        lies = {0: follows(list(spec.placements), made)}
        return run(op, (x, *args[1:]), kwargs, out, lies, keeps_terms(made))
    if x.requires_grad and torch.is_grad_enabled():
        own = spec.of_gradient()
        x = _C.mark_gradient(x, lambda grad: _C.make_dtensor(grad, own, own.shape, own.stride))
    given = _C.call_local(op, x, *args[1:], **kwargs)
    specs = [spec.with_placements(made).with_shape(tuple(part.shape)) for part in parts]
    return type(given)([_C.spread_out(t, s, s.shape, s.stride) for t, s in zip(given, specs)])
