# module: numpy
# defines: log log2 log10 log1p exp expm1 sqrt sin cos tan tanh sinh cosh arctan arcsin arccos floor ceil rint trunc abs absolute fabs square sign isnan isinf isfinite negative logical_not add subtract multiply divide true_divide power mod remainder floor_divide maximum minimum arctan2 equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or fmod hypot sum mean prod std var max amax min amin argmax argmin all any median array asarray ascontiguousarray asanyarray copy zeros ones full empty zeros_like ones_like full_like empty_like arange linspace logspace eye identity concatenate stack vstack hstack column_stack dstack split array_split tile repeat reshape transpose ravel squeeze expand_dims swapaxes moveaxis flip roll where clip dot matmul outer cumsum diff argsort sort unique isin allclose array_equal isclose percentile quantile round around atleast_1d shape ndim size broadcast_to meshgrid triu tril pad append bincount random linalg ndarray dtype number integer floating float16 float32 float64 int8 int16 int32 int64 uint8 bool_ float_ intp pi e inf nan newaxis nonzero count_nonzero searchsorted average nanmean seterr set_printoptions errstate isscalar
import math
import torch
import numpy._array as _a
import numpy.random as random
import numpy.linalg as linalg
from numpy._array import ndarray, dtype, float64, float32, float16, int64, int32, int16, int8, uint8, bool_

# Arrays have sizes and a type; their numbers are known where they were given, drawn or computed from such.

pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None
float_, intp = float64, int64
integer, floating = (int64, int32, int16, int8, uint8), (float64, float32, float16)
number = floating + integer


def log(x):
    return _a.apply1("log", x)


def log2(x):
    return _a.apply1("log2", x)


def log10(x):
    return _a.apply1("log10", x)


def log1p(x):
    return _a.apply1("log1p", x)


def exp(x):
    return _a.apply1("exp", x)


def expm1(x):
    return _a.apply1("expm1", x)


def sqrt(x):
    return _a.apply1("sqrt", x)


def sin(x):
    return _a.apply1("sin", x)


def cos(x):
    return _a.apply1("cos", x)


def tan(x):
    return _a.apply1("tan", x)


def tanh(x):
    return _a.apply1("tanh", x)


def sinh(x):
    return _a.apply1("sinh", x)


def cosh(x):
    return _a.apply1("cosh", x)


def arctan(x):
    return _a.apply1("atan", x)


def arcsin(x):
    return _a.apply1("asin", x)


def arccos(x):
    return _a.apply1("acos", x)


def floor(x):
    return _a.apply1("floor", x)


def ceil(x):
    return _a.apply1("ceil", x)


def rint(x):
    return _a.apply1("round", x)


def trunc(x):
    return _a.apply1("trunc", x)


def abs(x):
    return _a.apply1("abs", x, False)


def absolute(x):
    return _a.apply1("abs", x, False)


def fabs(x):
    return _a.apply1("abs", x, False)


def square(x):
    return _a.apply1("square", x, False)


def sign(x):
    return _a.apply1("sign", x, False)


def isnan(x):
    return _a.apply1("isnan", x, False)


def isinf(x):
    return _a.apply1("isinf", x, False)


def isfinite(x):
    return _a.apply1("isfinite", x, False)


def negative(x):
    return _a.apply1("neg", x, False)


def logical_not(x):
    return _a.apply1("logical_not", x, False)


def add(x, y):
    return _a.apply2("add", x, y)


def subtract(x, y):
    return _a.apply2("sub", x, y)


def multiply(x, y):
    return _a.apply2("mul", x, y)


def divide(x, y):
    return _a.apply2("true_divide", x, y)


def true_divide(x, y):
    return _a.apply2("true_divide", x, y)


def power(x, y):
    return _a.apply2("pow", x, y)


def mod(x, y):
    return _a.apply2("remainder", x, y)


def remainder(x, y):
    return _a.apply2("remainder", x, y)


def floor_divide(x, y):
    return _a.apply2("floor_divide", x, y)


def maximum(x, y):
    return _a.apply2("maximum", x, y)


def minimum(x, y):
    return _a.apply2("minimum", x, y)


def arctan2(x, y):
    return _a.apply2("atan2", x, y)


def equal(x, y):
    return _a.apply2("eq", x, y)


def not_equal(x, y):
    return _a.apply2("ne", x, y)


def less(x, y):
    return _a.apply2("lt", x, y)


def less_equal(x, y):
    return _a.apply2("le", x, y)


def greater(x, y):
    return _a.apply2("gt", x, y)


def greater_equal(x, y):
    return _a.apply2("ge", x, y)


def logical_and(x, y):
    return _a.apply2("logical_and", x, y)


def logical_or(x, y):
    return _a.apply2("logical_or", x, y)


def logical_xor(x, y):
    return _a.apply2("logical_xor", x, y)


def bitwise_and(x, y):
    return _a.apply2("bitwise_and", x, y)


def bitwise_or(x, y):
    return _a.apply2("bitwise_or", x, y)


def fmod(x, y):
    return _a.apply2("fmod", x, y)


def hypot(x, y):
    return _a.apply2("hypot", x, y)


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


def median(x, axis=None, keepdims=False):
    return _a.reduced("median", x, axis, keepdims)


def _t(x):
    return _a.tensor_of(x)


def _together(arrays):
    """as tensors of the type that they have together"""
    kind = _a._common([_a.dtype_of(_a.array_of(x, copies=False).dtype).name for x in arrays])
    return [_t(x).to(getattr(torch, kind)) for x in arrays]


def array(data, dtype=None, copy=True, ndmin=0):
    out = _a.array_of(data, dtype)
    while out.ndim < ndmin:
        out = _a.made(out._t.unsqueeze(0))
    return out


def asarray(data, dtype=None):
    return _a.array_of(data, dtype, copies=False)


ascontiguousarray = asanyarray = asarray


def copy(x):
    return _a.array_of(x)


def _filled(shape, value, dtype):
    shape = [int(n) for n in shape] if isinstance(shape, (tuple, list)) else [int(shape)]
    return _a.made(torch.full(shape, value, dtype=_a.dtype_of(dtype)._torch()))


def zeros(shape, dtype=float64):
    return _filled(shape, 0, dtype)


empty = zeros


def ones(shape, dtype=float64):
    return _filled(shape, 1, dtype)


def full(shape, fill_value, dtype=None):
    return _filled(shape, fill_value, type(fill_value) if dtype is None else dtype)


def zeros_like(x, dtype=None):
    return zeros(_t(x).shape, dtype or _a.array_of(x, copies=False).dtype)


empty_like = zeros_like


def ones_like(x, dtype=None):
    return ones(_t(x).shape, dtype or _a.array_of(x, copies=False).dtype)


def full_like(x, fill_value, dtype=None):
    return full(_t(x).shape, fill_value, dtype or _a.array_of(x, copies=False).dtype)


def arange(start, stop=None, step=1, dtype=None):
    if stop is None:
        start, stop = 0, start
    whole = not any_float(start, stop, step)
    if whole:
        return _a.made(torch.arange(int(start), int(stop), int(step)), dtype)
    count = math.ceil((stop - start) / step)
    if count > 1024:
        return _a.made(torch.arange(start, stop, step, dtype=torch.float64), dtype)
    return _a.array_of([start + i * step for i in range(count)], dtype or float64)


def any_float(*numbers):
    return len([x for x in numbers if isinstance(x, float)]) > 0


def linspace(start, stop, num=50, endpoint=True, dtype=None):
    if num > 1024:
        return _a.made(torch.linspace(start, stop, num, dtype=torch.float64), dtype)
    step = (stop - start) / ((num - 1 if endpoint else num) or 1)
    values = [start + i * step for i in range(num)]
    if endpoint and num > 1:
        values[-1] = stop
    return _a.array_of(values, dtype or float64)


def logspace(start, stop, num=50, endpoint=True, base=10.0):
    return _a.array_of([base**x for x in linspace(start, stop, num, endpoint).tolist()], float64)


def eye(n, m=None, dtype=float64):
    m = n if m is None else m
    if n * m > 1024:
        return _a.made(torch.eye(n, m, dtype=_a.dtype_of(dtype)._torch()))
    return _a.array_of([[int(i == j) for j in range(m)] for i in range(n)], dtype)


identity = eye


def concatenate(arrays, axis=0):
    parts = _together(arrays)
    return _a.made(torch.cat([p.reshape(-1) for p in parts], 0) if axis is None else torch.cat(parts, axis))


def append(x, values, axis=None):
    return concatenate([x, values] if axis is not None else [ravel(x), ravel(values)], 0 if axis is None else axis)


def stack(arrays, axis=0):
    return _a.made(torch.stack(_together(arrays), axis))


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


def expand_dims(x, axis):
    return _a.made(_t(x).unsqueeze(axis))


def swapaxes(x, a, b):
    return _a.made(_t(x).transpose(a, b))


def moveaxis(x, source, destination):
    return _a.made(torch.movedim(_t(x), source, destination))


def flip(x, axis=None):
    t = _t(x)
    return _a.made(t.flip(list(range(t.dim())) if axis is None else axis))


def roll(x, shift, axis=None):
    return _a.made(torch.roll(_t(x), shift, axis))


def where(condition, x=None, y=None):
    if x is None:
        return asarray(condition).nonzero()
    a, b = _a._pair(x, y)
    return _a.made(torch.where(_t(condition), a, b))


def nonzero(x):
    return asarray(x).nonzero()


def count_nonzero(x):
    return int(torch.count_nonzero(_t(x)).item())


def clip(x, low, high):
    return minimum(maximum(x, low), high)


def dot(a, b):
    return asarray(a) @ b


matmul = dot


def outer(a, b):
    a, b = _together([a, b])
    return _a.made(torch.outer(a, b))


def cumsum(x, axis=None):
    return asarray(x).cumsum(axis)


def diff(x, n=1, axis=-1):
    return _a.made(torch.diff(_t(x), n, axis))


def argsort(x, axis=-1):
    return asarray(x).argsort(axis)


def sort(x, axis=-1):
    return _a.made(_t(x).sort(axis)[0])


def unique(x, return_index=False, return_inverse=False, return_counts=False):
    _a.refuse("unique, whose result is as long as the numbers say,")


def isin(x, values):
    return _a.made(torch.isin(_t(x), _t(values)))


def isclose(a, b, rtol=1e-5, atol=1e-8):
    a, b = _together([a, b])
    return _a.made(torch.isclose(a, b, rtol, atol))


_abs = math.fabs


def allclose(a, b, rtol=1e-5, atol=1e-8):
    a, b = [_a.known_of(t) for t in torch.broadcast_tensors(_t(a), _t(b))]
    if a is None or b is None:
        _a.refuse("allclose of numbers that are not known")
    return not [x for x, y in zip(a, b) if not (x == y or _abs(x - y) <= atol + rtol * _abs(y))]


def array_equal(a, b):
    if _t(a).shape != _t(b).shape:
        return False
    a, b = _a.known_of(_t(a)), _a.known_of(_t(b))
    if a is None or b is None:
        _a.refuse("array_equal of numbers that are not known")
    return a == b


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


def nanmean(x, axis=None):
    return mean(x, axis)


def round(x, decimals=0):
    if isinstance(x, (ndarray, list, tuple)):
        return asarray(x).round(decimals)
    return float64(float(x).__round__(decimals))


around = round


def atleast_1d(x):
    t = _t(x)
    return _a.made(t if t.dim() else t.reshape(1))


def shape(x):
    return tuple(_t(x).shape)


def ndim(x):
    return _t(x).dim()


def size(x, axis=None):
    return _t(x).numel() if axis is None else _t(x).shape[axis]


def isscalar(x):
    return isinstance(x, (int, float, str))


def broadcast_to(x, shape):
    return _a.made(_t(x).expand(shape))


def meshgrid(*arrays, indexing="xy"):
    return [_a.made(grid) for grid in torch.meshgrid(*_together(arrays), indexing=indexing)]


def triu(x, k=0):
    return _a.made(torch.triu(_t(x), k))


def tril(x, k=0):
    return _a.made(torch.tril(_t(x), k))


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


def searchsorted(x, values, side="left"):
    a, b = _together([x, values])
    return _a.made(torch.searchsorted(a, b, right=side == "right"))


def seterr(**options):
    return {}


def set_printoptions(**options):
    return None


class errstate:
    def __init__(self, **options):
        pass

    def __enter__(self):
        return None

    def __exit__(self, *args):
        return False
