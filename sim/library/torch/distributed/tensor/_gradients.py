import torch
import torch._C as _C
from torch.distributed.tensor.placement_types import Partial, Replicate

# How gradients lie on their way back through operators. An operator runs on this rank's parts, and so does its backward:
# what arrives there is laid out first as its kernels want it (`wanted`); each of its gradients is then marked with how it
# lies (`lies`). Both are functions of placements.


def run(op, args, kwargs, spec, lies=None, wanted=None):
    """`op` on this rank's parts. What it gives lies as `spec`. `lies`: by number of an argument, from how the gradient of
    the result lies to how that of the argument does."""
    arrived = [[Replicate() if p.is_partial() else p for p in spec.placements]]
    if lies is not None and torch.is_grad_enabled():
        args = tuple([_marked(arg, lies.get(i), arrived) for i, arg in enumerate(args)])
    out = _C.call_local(op, *args, **kwargs)
    if not isinstance(out, torch.Tensor) or _C.spec_of(out) is not None:
        return out
    if lies is not None and out.requires_grad:
        _C.change_before(out, _Before(spec, wanted, arrived))
    return spread(out, spec)


def spread(out, spec):
    """the result of an operator on parts, as a DTensor"""
    spec.dtype = out.dtype
    return _C.spread_out(out, spec, spec.shape, spec.stride)


class _Before:
    """lays a gradient out for the kernels of an operator's backward"""

    def __init__(self, spec, wanted, arrived):
        self._spec, self._wanted, self._arrived = spec, wanted, arrived

    def __call__(self, grad):
        from torch.distributed.tensor._redistribute import redistribute_local_tensor

        current = _C.spec_of(grad)
        if current is None:
            current = self._spec.of_gradient()
        placements = list(current.placements)
        if self._wanted is not None:
            placements = self._wanted(placements)
        self._arrived[0] = placements
        if placements == list(current.placements):
            return _C.local_of(grad)
        with torch.no_grad():
            return redistribute_local_tensor(_C.local_of(grad), current, placements)


def _marked(arg, lies, arrived):
    spec = _C.spec_of(arg) if isinstance(arg, torch.Tensor) else None
    if spec is None or not arg.requires_grad or lies is None:
        return arg

    def mark(grad):
        laid = spec.with_placements(lies(arrived[0]))
        return _C.make_dtensor(grad, laid, laid.shape, laid.stride)

    return _C.mark_gradient(arg, mark)


def follows(own, made):
    """`lies` of an argument whose parts give those of the result: terms of a sum stay such"""
    return lambda arrived: [
        now if now.is_partial() and mine.is_replicate() else mine for now, mine, _ in zip(arrived, own, made)
    ]


def keeps_terms(made):
    """`wanted` of operators through which a sum's terms can go one by one"""

    def wanted(arrived):
        whole = [Replicate() if m.is_partial() else m for m in made]
        return [now if now.is_partial() and m.is_replicate() else m for now, m in zip(arrived, whole)]

    return wanted


def needs_sums(made):
    """`wanted` of all others"""
    return lambda arrived: [Replicate() if m.is_partial() else m for m in made]


def sum_of_gradients(stored, incoming):
    """of two that meet: where both lie alike, or where the one in more parts lies"""
    specs = [_C.spec_of(stored), _C.spec_of(incoming)]
    spec = specs[0] if specs[0] is not None else specs[1]
    if None not in specs and specs[0].placements != specs[1].placements:
        parts = [sum([p.is_shard() for p in s.placements]) for s in specs]
        spec = specs[1] if parts[1] > parts[0] else specs[0]
        stored, incoming = [
            t if s.placements == spec.placements else t.redistribute(placements=spec.placements)
            for t, s in zip((stored, incoming), specs)
        ]
    out = _C.local_of(stored) + _C.local_of(incoming)
    return _C.spread_out(out, spec.with_placements(spec.placements), spec.shape, spec.stride)
