import numpy._core.multiarray as _a
import torch
from numpy._core.numeric import _t, _together, asarray


def einsum(subscripts, *operands, out=None, dtype=None, optimize=False):
    if not isinstance(subscripts, str):
        _a.refuse("einsum of lists of axes")
    found = _a.made(torch.einsum(subscripts.replace(" ", ""), *_together(operands)), dtype)
    if out is None:
        return found if found.ndim else _a.scalar_of(found._t)
    out._t.copy_(found._t)
    return out


def einsum_path(subscripts, *operands, optimize="greedy"):
    return ["einsum_path", tuple(range(len(operands)))], ""


def tensordot(a, b, axes=2):
    a, b = _together([a, b])
    if isinstance(axes, (tuple, list)):
        axes = [[each] if isinstance(each, int) else list(each) for each in axes]
    return _a._given(torch.tensordot(a, b, axes))


def inner(a, b):
    a, b = _together([a, b])
    return _a._given(a * b if a.dim() == 0 or b.dim() == 0 else torch.tensordot(a, b, [[-1], [-1]]))


def vdot(a, b):
    a, b = _together([a, b])
    return _a._given(torch.dot(a.reshape(-1), b.reshape(-1)))


def kron(a, b):
    a, b = _together([a, b])
    return _a.made(torch.kron(a, b))


def cross(a, b, axis=-1):
    a, b = torch.broadcast_tensors(*_together([a, b]))
    return _a.made(torch.linalg.cross(a, b, dim=axis))


def trace(x, offset=0):
    return _a._given(torch.diagonal(_t(x), offset).sum(-1))


def matrix_transpose(x):
    return asarray(x).swapaxes(-1, -2)
