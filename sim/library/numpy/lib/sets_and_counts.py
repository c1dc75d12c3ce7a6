import math
import numpy._core.multiarray as _a
import torch
from numpy._core.numeric import _t, _together, array, asarray, concatenate, linspace
from numpy._core.numerictypes import float64, int64
from numpy.lib.function_base import unique


def _known(x, what):
    values = _a.known_of(_t(x))
    if values is None:
        _a.refuse(f"{what} of numbers that are not known, whose result is as long as they say,")
    return values


def _chosen(values, like):
    return _a.made(torch.tensor(values, dtype=_t(like).dtype))


def union1d(a, b):
    return unique(concatenate([a, b], None))


def intersect1d(a, b, assume_unique=False):
    others = set(_known(b, "intersect1d"))
    return _chosen(sorted(set([x for x in _known(a, "intersect1d") if x in others])), a)


def setdiff1d(a, b, assume_unique=False):
    others = set(_known(b, "setdiff1d"))
    return _chosen(sorted(set([x for x in _known(a, "setdiff1d") if x not in others])), a)


def setxor1d(a, b, assume_unique=False):
    return union1d(setdiff1d(a, b), setdiff1d(b, a))


def in1d(x, values):
    return _a.made(torch.isin(_t(x).reshape(-1), _t(values)))


def delete(x, obj, axis=None):
    t = _t(x).reshape(-1) if axis is None else _t(x)
    axis = 0 if axis is None else axis % t.dim()
    n = t.shape[axis]
    if isinstance(obj, slice):
        gone = list(range(n))[obj]
    else:
        gone = [obj] if isinstance(obj, int) else _known(obj, "delete")
    gone = {i % n for i in gone}
    kept = [i for i in range(n) if i not in gone]
    return _a.made(t)[(slice(None),) * axis + (_a.array_of(kept, int64),)]


def insert(x, obj, values, axis=None):
    x = asarray(x).ravel() if axis is None else asarray(x)
    axis = 0 if axis is None else axis % x.ndim
    before, after = (slice(None),) * axis + (slice(0, obj),), (slice(None),) * axis + (slice(obj, None),)
    size = [1 if i == axis else n for i, n in enumerate(x.shape)]
    put = _t(values).to(x._t.dtype)
    put = put.unsqueeze(axis) if 0 < put.dim() == x.ndim - 1 else put
    count = put.shape[axis] if put.dim() == x.ndim else 1
    size[axis] = count
    return concatenate([x[before], _a.made(put.expand(size)), x[after]], axis)


def digitize(x, bins, right=False):
    a, b = _together([x, bins])
    return _a._given(torch.bucketize(a, b, right=not right))


def histogram(x, bins=10, range=None, density=None, weights=None):
    values = _a.known_of(_t(x).double())
    if isinstance(bins, int):
        low, high = range if range is not None else (min(values), max(values)) if values else (0.0, 1.0)
        bins = linspace(low, high, bins + 1)
    edges = array(bins, float64)
    ends, count = _a.known_of(edges._t), edges.size - 1
    if values is None or ends is None or density or weights is not None:
        kind = torch.float64 if density or weights is not None else torch.int64
        return _a.made(torch.empty(count, dtype=kind)), edges
    counts = [0] * count
    for value in values:
        if ends[0] <= value <= ends[-1]:
            place = sum([value >= end for end in ends]) - 1
            counts[place if place < count else count - 1] += 1
    return _a.array_of(counts, int64), edges


def cov(x, y=None, rowvar=True, ddof=1):
    t = _t(x).double() if y is None else torch.stack([_t(x).double(), _t(y).double()])
    return _a._given(torch.cov(t if rowvar else t.T, correction=ddof))


def corrcoef(x, y=None, rowvar=True):
    t = _t(x).double() if y is None else torch.stack([_t(x).double(), _t(y).double()])
    return _a._given(torch.corrcoef(t if rowvar else t.T))


def convolve(a, v, mode="full"):
    a, v = [t.reshape(-1) for t in _together([a, v])]
    a, v = (v, a) if a.shape[0] < v.shape[0] else (a, v)
    n, m = a.shape[0], v.shape[0]
    rows = torch.nn.functional.pad(a, [m - 1, m - 1]).unfold(0, m, 1)
    whole = (rows * v.flip(0)).sum(1)
    first, count = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]
    return _a.made(whole[first:first + count])


def correlate(a, v, mode="valid"):
    return convolve(a, _a.made(_t(v).flip(0)), mode)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    t = _t(y).double()
    return _a._given(torch.trapezoid(t, dx=dx, dim=axis) if x is None else torch.trapezoid(t, _t(x).double(), dim=axis))


def polyval(p, x):
    total = 0
    for factor in asarray(p).tolist():
        total = total * asarray(x) + factor if not isinstance(x, (int, float)) else total * x + factor
    return total


def polyfit(x, y, deg):
    return _a.made(torch.empty(deg + 1, dtype=torch.float64))


def select(conditions, choices, default=0):
    found = _t(default)
    for condition, choice in list(zip(conditions, choices))[::-1]:
        a, b = _a._pair(choice, _a.made(found) if found.dim() else found.item())
        found = torch.where(_t(condition), a, b)
    return _a.made(found)


def _window(n, weight, rest):
    return _a.array_of([weight - rest * math.cos(2 * math.pi * i / (n - 1)) for i in range(n)] if n > 1 else [1.0] * n)


def hanning(n):
    return _window(n, 0.5, 0.5)


def hamming(n):
    return _window(n, 0.54, 0.46)


class vectorize:
    """a function of numbers, called once for each of an array"""

    def __init__(self, pyfunc, otypes=None, excluded=None, signature=None):
        self.pyfunc, self.otypes = pyfunc, otypes

    def __call__(self, *args):
        arrays = torch.broadcast_tensors(*[_t(arg) for arg in args])
        rows = [_known(_a.made(t), "vectorize") for t in arrays]
        values = [self.pyfunc(*row) for row in zip(*rows)]
        kind = None if not self.otypes else self.otypes[0]
        if values and isinstance(values[0], tuple):
            return tuple([_a.array_of(list(each)).reshape(arrays[0].shape) for each in zip(*values)])
        return _a.array_of(values, kind).reshape(arrays[0].shape)


def apply_along_axis(function, axis, x, *args, **options):
    t = _t(x).movedim(axis, -1)
    rows = [asarray(function(_a.made(row), *args, **options))._t for row in t.reshape(-1, t.shape[-1])]
    out = torch.stack(rows).reshape(list(t.shape[:-1]) + list(rows[0].shape))
    return _a.made(out.movedim(-1, axis) if rows[0].dim() else out)
