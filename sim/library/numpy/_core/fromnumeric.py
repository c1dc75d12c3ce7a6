import numpy._core.multiarray as _a
import torch
from numpy._core.multiarray import ndarray
from numpy._core.numeric import _t, _together, asarray
from numpy._core.numerictypes import float64
from numpy._core.umath import maximum, minimum


def sum(x, axis=None, dtype=None, keepdims=False):
    return _a.reduced("sum", x, axis, keepdims, dtype)


def mean(x, axis=None, dtype=None, keepdims=False):
    return _a.reduced("mean", x, axis, keepdims, dtype)


def prod(x, axis=None, dtype=None, keepdims=False):
    return _a.reduced("prod", x, axis, keepdims, dtype)


def std(x, axis=None, ddof=0, keepdims=False):
    return _a.reduced("std", x, axis, keepdims, ddof=ddof)


def var(x, axis=None, ddof=0, keepdims=False):
    return _a.reduced("var", x, axis, keepdims, ddof=ddof)


def max(x, axis=None, keepdims=False):
    return _a.reduced("max", x, axis, keepdims)


def amax(x, axis=None, keepdims=False):
    return _a.reduced("max", x, axis, keepdims)


def min(x, axis=None, keepdims=False):
    return _a.reduced("min", x, axis, keepdims)


def amin(x, axis=None, keepdims=False):
    return _a.reduced("min", x, axis, keepdims)


def argmax(x, axis=None, keepdims=False):
    return _a.reduced("argmax", x, axis, keepdims)


def argmin(x, axis=None, keepdims=False):
    return _a.reduced("argmin", x, axis, keepdims)


def all(x, axis=None, keepdims=False):
    return _a.reduced("all", x, axis, keepdims)


def any(x, axis=None, keepdims=False):
    return _a.reduced("any", x, axis, keepdims)


def repeat(x, repeats, axis=None):
    return asarray(x).repeat(repeats, axis)


def reshape(x, shape):
    return _a.made(_t(x).reshape(shape))


def transpose(x, axes=None):
    return asarray(x).transpose(*(axes or ()))


def ravel(x):
    return _a.made(_t(x).reshape(-1))


def squeeze(x, axis=None):
    return asarray(x).squeeze(axis)


def swapaxes(x, a, b):
    return _a.made(_t(x).transpose(a, b))


def nonzero(x):
    return asarray(x).nonzero()


def clip(x, low, high):
    return minimum(maximum(x, low), high)


def cumsum(x, axis=None):
    return asarray(x).cumsum(axis)


def argsort(x, axis=-1):
    return asarray(x).argsort(axis)


def sort(x, axis=-1):
    return _a.made(_t(x).sort(axis)[0])


def round(x, decimals=0):
    if isinstance(x, (ndarray, list, tuple)):
        return asarray(x).round(decimals)
    return float64(float(x).__round__(decimals))


around = round


def shape(x):
    return tuple(_t(x).shape)


def ndim(x):
    return _t(x).dim()


def size(x, axis=None):
    return _t(x).numel() if axis is None else _t(x).shape[axis]


def searchsorted(x, values, side="left"):
    a, b = _together([x, values])
    return _a.made(torch.searchsorted(a, b, right=side == "right"))


def cumprod(x, axis=None):
    t = _t(x)
    return _a.made(torch.cumprod(t.reshape(-1) if axis is None else t, 0 if axis is None else axis))


def diagonal(x, offset=0, axis1=0, axis2=1):
    return _a.made(torch.diagonal(_t(x), offset, axis1, axis2))


def ptp(x, axis=None, keepdims=False):
    return max(x, axis, keepdims) - min(x, axis, keepdims)


def take(x, indices, axis=None):
    x = asarray(x)
    if axis is None:
        return x.ravel()[indices if isinstance(indices, (int, ndarray)) else asarray(indices)]
    at = indices if isinstance(indices, int) else asarray(indices)
    return x[(slice(None),) * (axis % x.ndim) + (at,)]


def compress(condition, x, axis=None):
    kept = [i for i, holds in enumerate(asarray(condition).tolist()) if holds]
    return take(x, kept, axis)


def choose(at, choices):
    return _a.made(torch.gather(torch.stack(_together(choices)), 0, _t(at).long().unsqueeze(0))[0])


def argwhere(x):
    return _a.made(torch.nonzero(_t(x)))


def flatnonzero(x):
    return ravel(x).nonzero()[0]


def resize(x, new_shape):
    flat, count = ravel(x), 1
    new_shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    for n in new_shape:
        count *= n
    turns = -(-count // flat.size)
    return _a.made(flat._t.repeat(turns)[:count].reshape(new_shape))


def rollaxis(x, axis, start=0):
    t = _t(x)
    axis, start = axis % t.dim(), start + t.dim() if start < 0 else start
    return _a.made(torch.movedim(t, axis, start - 1 if axis < start else start))


permute_dims = transpose


def partition(x, kth, axis=-1):
    return sort(x, axis)


def argpartition(x, kth, axis=-1):
    return argsort(x, axis)
