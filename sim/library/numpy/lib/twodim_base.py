import numpy._core.multiarray as _a
import torch
from numpy._core.numeric import _t, arange, where
from numpy._core.numerictypes import float64


def diag(x, k=0):
    t = _t(x)
    if t.dim() == 2:
        return _a.made(torch.diagonal(t, k))
    n = t.shape[0] + abs(k)
    out = torch.zeros(n, n, dtype=t.dtype)
    out.diagonal(k).copy_(t)
    return _a.made(out)


def diagflat(x, k=0):
    return diag(_t(x).reshape(-1), k)


def diagonal(x, offset=0, axis1=0, axis2=1):
    return _a.made(torch.diagonal(_t(x), offset, axis1, axis2))


def fill_diagonal(a, val, wrap=False):
    a._t.diagonal().copy_(torch.as_tensor(_t(val)).to(a._t.dtype).expand(min(a.shape)))


def flipud(x):
    return _a.made(_t(x).flip(0))


def fliplr(x):
    return _a.made(_t(x).flip(1))


def rot90(x, k=1, axes=(0, 1)):
    t, (a, b) = _t(x), axes
    for _ in range(k % 4):
        t = t.flip(b).transpose(a, b)
    return _a.made(t)


def tri(n, m=None, k=0, dtype=float64):
    return _a.made(torch.tril(torch.ones(n, n if m is None else m, dtype=_a.dtype_of(dtype)._torch()), k))


def triu(x, k=0):
    return _a.made(torch.triu(_t(x), k))


def tril(x, k=0):
    return _a.made(torch.tril(_t(x), k))


def tril_indices(n, k=0, m=None):
    return tuple([_a.made(row) for row in torch.tril_indices(n, n if m is None else m, k)])


def triu_indices(n, k=0, m=None):
    return tuple([_a.made(row) for row in torch.triu_indices(n, n if m is None else m, k)])


def diag_indices(n, ndim=2):
    return tuple([arange(n) for _ in range(ndim)])


def vander(x, n=None, increasing=False):
    return _a.made(torch.vander(_t(x), N=n, increasing=increasing))


def mask_indices(n, mask_func, k=0):
    return where(_a.made(mask_func(tri(n, k=n), k)._t != 0))


def tril_indices_from(arr, k=0):
    return tril_indices(_t(arr).shape[-2], k, _t(arr).shape[-1])


def triu_indices_from(arr, k=0):
    return triu_indices(_t(arr).shape[-2], k, _t(arr).shape[-1])


def diag_indices_from(arr):
    return diag_indices(_t(arr).shape[0], _t(arr).dim())
