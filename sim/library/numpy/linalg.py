import math
import numpy._core.multiarray as _a
import torch


def _floats(x):
    t = _a.tensor_of(x)
    return t if t.is_floating_point() else t.double()


def norm(x, ord=None, axis=None, keepdims=False):
    known = _a.known_of(_floats(x)) if ord is None and axis is None and not keepdims else None
    if known is not None:
        return _a.scalar_of(torch.tensor(math.sqrt(sum([v * v for v in known])), dtype=_floats(x).dtype))
    out = torch.linalg.norm(_floats(x), ord, axis, keepdims)
    return _a.made(out) if out.dim() else _a.scalar_of(out)


def inv(x):
    return _a.made(torch.linalg.inv(_floats(x)))


def det(x):
    return _a.scalar_of(torch.linalg.det(_floats(x)))
