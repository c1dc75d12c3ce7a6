import math
import numpy._core.multiarray as _a
import torch
from bisect import bisect_right
from numpy._core.fromnumeric import mean, ravel
from numpy._core.multiarray import ndarray
from numpy._core.numeric import _t, _together, asarray, concatenate
from numpy._core.numerictypes import float64, int64


def median(x, axis=None, keepdims=False):
    return _a.reduced("median", x, axis, keepdims)


def append(x, values, axis=None):
    return concatenate([x, values] if axis is not None else [ravel(x), ravel(values)], 0 if axis is None else axis)


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    made = _a.made(torch.stack(_together(arrays), axis))
    if dtype is not None:
        made = made.astype(dtype)
    if out is None:
        return made
    out[...] = made
    return out


def vstack(arrays):
    return _a.made(torch.cat([p.reshape(1, -1) if p.dim() < 2 else p for p in _together(arrays)], 0))


def hstack(arrays):
    parts = _together(arrays)
    return _a.made(torch.cat(parts, 0 if parts[0].dim() == 1 else 1))


def column_stack(arrays):
    return _a.made(torch.cat([p.reshape(-1, 1) if p.dim() < 2 else p for p in _together(arrays)], 1))


def dstack(arrays):
    return _a.made(torch.stack(_together(arrays), 2))


def array_split(x, sections, axis=0):
    if isinstance(sections, int):
        return [_a.made(part) for part in torch.tensor_split(_t(x), sections, axis)]
    return [_a.made(part) for part in torch.tensor_split(_t(x), list(sections), axis)]


def split(x, sections, axis=0):
    if isinstance(sections, int) and _t(x).shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(x, sections, axis)


def tile(x, reps):
    return _a.made(_t(x).tile(reps if isinstance(reps, (tuple, list)) else (reps,)))


def expand_dims(x, axis):
    return _a.made(_t(x).unsqueeze(axis))


def flip(x, axis=None):
    t = _t(x)
    return _a.made(t.flip(list(range(t.dim())) if axis is None else axis))


def diff(x, n=1, axis=-1):
    return _a.made(torch.diff(_t(x), n, axis))


def unique(x, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    t = _t(x).reshape(-1) if axis is None else _t(x).movedim(axis, 0).contiguous()
    known = _a.known_of(t)
    if known is None:
        _a.refuse("unique of numbers that are not known, whose result is as long as they say,")
    if axis is not None:
        return _unique_rows(t, known, axis, return_index, return_inverse, return_counts)
    firsts, counts = {}, {}
    for i, value in enumerate(known):
        firsts.setdefault(value, i)
        counts[value] = counts.get(value, 0) + 1
    values = sorted(firsts)
    places = {value: i for i, value in enumerate(values)}
    found = [_a.made(torch.tensor(values, dtype=t.dtype))]
    if return_index:
        found.append(_whole([firsts[value] for value in values]))
    if return_inverse:
        found.append(_whole([places[value] for value in known]).reshape(asarray(x).shape))
    if return_counts:
        found.append(_whole([counts[value] for value in values]))
    return tuple(found) if len(found) > 1 else found[0]


def _unique_rows(t, known, axis, return_index, return_inverse, return_counts):
    width = t[0].numel() if len(t) else 1
    rows = [tuple(known[i * width:(i + 1) * width]) for i in range(len(t))]
    firsts = {}
    for i, row in enumerate(rows):
        firsts.setdefault(row, i)
    kept = sorted(firsts)
    places = {row: i for i, row in enumerate(kept)}
    values = torch.tensor(kept, dtype=t.dtype).reshape(len(kept), *t.shape[1:])
    found = [_a.made(values.movedim(0, axis))]
    if return_index:
        found.append(_whole([firsts[row] for row in kept]))
    if return_inverse:
        found.append(_whole([places[row] for row in rows]))
    if return_counts:
        found.append(_whole([rows.count(row) for row in kept]))
    return tuple(found) if len(found) > 1 else found[0]


def _whole(values):
    return _a.made(torch.tensor(values, dtype=torch.int64))


def isin(x, values):
    return _a.made(torch.isin(_t(x), _t(values)))


def quantile(x, q, axis=None):
    t = _t(x).double()
    known = _a.known_of(t) if axis is None and isinstance(q, (int, float)) else None
    if known:
        known = sorted(known)
        at = q * (len(known) - 1)
        low = int(at)
        return float64(known[low] + (known[low + 1] - known[low]) * (at - low) if low + 1 < len(known) else known[low])
    q = q if not isinstance(q, (list, tuple, ndarray)) else _t(q).double()
    out = torch.quantile(t, q) if axis is None else torch.quantile(t, q, axis)
    return _a.made(out) if out.dim() else _a.scalar_of(out)


def percentile(x, q, axis=None):
    return quantile(x, asarray(q) / 100 if isinstance(q, (list, tuple, ndarray)) else q / 100, axis)


def average(x, axis=None, weights=None):
    if weights is None:
        return mean(x, axis)
    return sum(asarray(x) * weights, axis) / sum(weights)


def atleast_1d(x):
    t = _t(x)
    return _a.made(t if t.dim() else t.reshape(1))


def broadcast_to(x, shape):
    return _a.made(_t(x).expand(shape))


def meshgrid(*arrays, indexing="xy"):
    return [_a.made(grid) for grid in torch.meshgrid(*_together(arrays), indexing=indexing)]


def take_along_axis(x, indices, axis=-1):
    t, at = _t(x), _t(indices).long()
    if axis is None:
        t, axis = t.reshape(-1), 0
    return _a.made(_along(t.expand([-1 if i == axis % t.dim() else n for i, n in enumerate(at.shape)]), at, axis))


def _along(t, at, axis):
    values, places = _a.known_of(t), _places(t, at, axis)
    found = torch.take_along_dim(t, at.remainder(t.shape[axis]), axis)
    if values is not None and places is not None:
        torch._C.note_values(found, [values[place] for place in places])
    return found


def _places(t, at, axis):
    """where in the flattened array each index leads; None: indices are not known"""
    known = _a.known_of(at)
    if known is None:
        return None
    axis, length = axis % t.dim(), t.shape[axis]
    below = math.prod(t.shape[axis + 1:])
    for index in known:
        if not -length <= index < length:
            raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
    count = at.shape[axis]
    return [
        (n // (count * below) * length + index % length) * below + n % below for n, index in enumerate(known)
    ]


def put_along_axis(arr, indices, values, axis):
    t = arr._t
    at = _t(indices).long()
    if axis is None:
        t, axis = t.view(-1), 0
    at = at.expand([n if i == axis % t.dim() else t.shape[i] for i, n in enumerate(at.shape)])
    given = _t(values).to(t.dtype).expand(at.shape)
    before, places, news = _a.known_of(t), _places(t, at, axis), _a.known_of(given)
    t.scatter_(axis, at.remainder(t.shape[axis]), given)
    if before is not None and places is not None and news is not None:
        for place, value in zip(places, news):
            before[place] = value
        torch._C.note_values(t, before)


def pad(x, pad_width, mode="constant", constant_values=0):
    if mode != "constant":
        _a.refuse(f"pad(mode={mode!r})")
    t = _t(x)
    if isinstance(pad_width, int):
        pad_width = [(pad_width, pad_width)] * t.dim()
    if isinstance(pad_width[0], int):
        pad_width = [tuple(pad_width)] * t.dim()
    amounts = []
    for before, after in list(pad_width)[::-1]:
        amounts += [before, after]
    return _a.made(torch.nn.functional.pad(t, amounts, value=constant_values))


def bincount(x, weights=None, minlength=0):
    known = torch._C.known_integers(_t(x))
    if known is None or weights is not None:
        _a.refuse("bincount of numbers that are not known")
    counts = [0] * (0 if not known else 1 + sorted(known)[-1])
    counts += [0] * (minlength - len(counts))
    for each in known:
        counts[each] += 1
    return _a.array_of(counts, int64)


def interp(x, xp, fp, left=None, right=None, period=None):
    if period is not None:
        _a.refuse("interp(period=...)")
    t = _t(x).double()
    at, heights, wanted = _a.known_of(_t(xp).double()), _a.known_of(_t(fp).double()), _a.known_of(t)
    if at is None or heights is None or wanted is None:
        out = torch.empty(t.shape, dtype=torch.float64)
    else:
        low = heights[0] if left is None else left
        high = heights[-1] if right is None else right
        out = torch.tensor([_between(v, at, heights, low, high) for v in wanted], dtype=torch.float64).reshape(t.shape)
    return _a.made(out) if out.dim() else _a.scalar_of(out)


def _between(x, at, heights, low, high):
    if x < at[0]:
        return low
    if x > at[-1]:
        return high
    i = bisect_right(at, x) - 1
    if i + 1 == len(at):
        return heights[-1]
    return (heights[i + 1] - heights[i]) / (at[i + 1] - at[i]) * (x - at[i]) + heights[i]


def hsplit(x, sections):
    return split(x, sections, 0 if _t(x).dim() == 1 else 1)


def vsplit(x, sections):
    return split(x, sections, 0)


def dsplit(x, sections):
    return split(x, sections, 2)


def atleast_2d(x):
    t = _t(x)
    return _a.made(t if t.dim() > 1 else t.reshape(1, -1))


def atleast_3d(x):
    t = _t(x)
    if t.dim() < 2:
        t = t.reshape(1, -1, 1)
    return _a.made(t if t.dim() > 2 else t.unsqueeze(2))


row_stack = vstack


def unstack(x, axis=0):
    return tuple([_a.made(part) for part in torch.unbind(_t(x), axis)])


def broadcast_arrays(*arrays):
    return tuple([_a.made(t) for t in torch.broadcast_tensors(*[_t(x) for x in arrays])])


def ediff1d(ary):
    t = _t(ary).reshape(-1)
    return _a.made(t[1:] - t[:-1])


def _slope(t, axis, step):
    """differences of neighbours: of both at a time inside, of one at each end"""
    last = t.shape[axis] - 1
    if last < 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
            "required."
        )
    inside = (t.narrow(axis, 2, last - 1) - t.narrow(axis, 0, last - 1)) / (2 * step)
    first = (t.narrow(axis, 1, 1) - t.narrow(axis, 0, 1)) / step
    end = (t.narrow(axis, last, 1) - t.narrow(axis, last - 1, 1)) / step
    return torch.cat([first, inside, end], axis)


def gradient(f, *varargs, axis=None, edge_order=1):
    if edge_order != 1 or any([not isinstance(step, (int, float)) for step in varargs]):
        _a.refuse("gradient() of uneven steps, or with edge_order=2")
    t = _t(f)
    t = t if t.is_floating_point() else t.double()
    axes = range(t.dim()) if axis is None else [axis] if isinstance(axis, int) else axis
    steps = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1] * len(axes)
    made = [_a.made(_slope(t, k, step)) for k, step in zip(axes, steps)]
    return made[0] if len(made) == 1 else tuple(made)


def extract(condition, arr):
    return _a.made(_t(arr).reshape(-1)[_t(condition).reshape(-1) != 0])


def real(x):
    t = _t(x)
    return _a.made(t.real if t.is_complex() else t)


def imag(x):
    t = _t(x)
    return _a.made(t.imag if t.is_complex() else torch.zeros_like(t))


def isreal(x):
    return _a.made(_t(imag(x)) == 0)


def iscomplex(x):
    return _a.made(_t(imag(x)) != 0)


def iterable(y):
    try:
        iter(y)
    except TypeError:
        return False
    return True


def blackman(M):
    t = torch.arange(1 - M, M, 2, dtype=torch.float64) * (math.pi / max(M - 1, 1))
    return _a.made(0.42 + 0.5 * torch.cos(t) + 0.08 * torch.cos(2 * t))


def bartlett(M):
    t = torch.arange(1 - M, M, 2, dtype=torch.float64) / max(M - 1, 1)
    return _a.made(torch.where(t <= 0, 1 + t, 1 - t))
