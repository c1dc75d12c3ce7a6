import itertools
import math
import numpy._core.multiarray as _a
import torch
from numpy._core.multiarray import ndarray
from numpy._core.numeric import _t, arange, array, asarray, concatenate, linspace
from numpy._core.numerictypes import int64


def _range(part):
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    if isinstance(step, complex):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step)


class _Grid:
    def __init__(self, is_open):
        self.is_open = is_open

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _range(key)
        rows = [_range(part) for part in key]
        kind = _a.dtype_of(_a._common([row.dtype.name for row in rows]))
        count = len(rows)
        sizes = [[-1 if i == k else 1 for k in range(count)] for i in range(count)]
        grids = [_t(row).to(kind._torch()).reshape(size) for row, size in zip(rows, sizes)]
        if self.is_open:
            return tuple([_a.made(grid) for grid in grids])
        return _a.made(torch.stack(torch.broadcast_tensors(*grids)))


mgrid, ogrid = _Grid(False), _Grid(True)


class _Rows:
    def __init__(self, is_column):
        self.is_column = is_column

    def __getitem__(self, key):
        parts = []
        for part in key if isinstance(key, tuple) else (key,):
            if isinstance(part, str):
                _a.refuse("np.r_ with a directive")
            part = _range(part) if isinstance(part, slice) else array(part, ndmin=1)
            if self.is_column and part.ndim == 1:
                part = part.reshape(-1, 1)
            parts.append(part)
        return concatenate(parts, -1 if self.is_column else 0)


r_, c_ = _Rows(False), _Rows(True)


class _Index:
    def __getitem__(self, key):
        return key


s_ = index_exp = _Index()


def ix_(*rows):
    count = len(rows)
    return tuple([
        _a.made(_t(row).reshape([-1 if i == k else 1 for k in range(count)])) for i, row in enumerate(rows)
    ])  # fmt: skip


def indices(dimensions, dtype=int64, sparse=False):
    return (ogrid if sparse else mgrid)[tuple([slice(0, n) for n in dimensions])]


def ndindex(*shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return itertools.product(*[range(n) for n in shape])


def ndenumerate(x):
    x = asarray(x)
    return zip(ndindex(x.shape), x.ravel())


def unravel_index(at, shape, order="C"):
    is_number = isinstance(at, int)
    rest, found = _t(at), []
    if is_number and not 0 <= at < math.prod(shape):
        raise ValueError(f"index {at} is out of bounds for array with size {math.prod(shape)}")
    for n in list(shape)[::-1]:
        found.append(int64(at % n) if is_number else _a.made(rest % n))
        at, rest = (at // n, rest) if is_number else (at, rest // n)
    return tuple(found[::-1])


def ravel_multi_index(places, dims, mode="raise", order="C"):
    total = 0
    for at, n in zip(places, dims):
        total = total * n + (at if isinstance(at, (int, ndarray)) else asarray(at))
    return total
