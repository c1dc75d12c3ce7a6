import math
import numpy._core.multiarray as _a
import torch
from numpy._core.numerictypes import (
    bool_, float16, float32, float64, floating, generic, inexact, int16, int32, int64, int8, integer, issubdtype,
    number, signedinteger, uint16, uint32, uint64, uint8, unsignedinteger,
)

# Arrays have sizes and a type; their numbers are known where they were given, drawn or computed from such.

pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None
float_, intp = float64, int64


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


def moveaxis(x, source, destination):
    return _a.made(torch.movedim(_t(x), source, destination))


def roll(x, shift, axis=None):
    return _a.made(torch.roll(_t(x), shift, axis))


def where(condition, x=None, y=None):
    if x is None:
        return asarray(condition).nonzero()
    a, b = _a._pair(x, y)
    return _a.made(torch.where(_t(condition), a, b))


def count_nonzero(x):
    return int(torch.count_nonzero(_t(x)).item())


def dot(a, b):
    return asarray(a) @ b


matmul = dot


def outer(a, b):
    a, b = _together([a, b])
    return _a.made(torch.outer(a, b))


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


def isscalar(x):
    return isinstance(x, (int, float, str))


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


class printoptions(errstate):
    pass


def astype(x, dtype, copy=True):
    return asarray(x).astype(dtype, copy)


concat = concatenate


def geomspace(start, stop, num=50, endpoint=True):
    count = (num - 1 if endpoint else num) or 1
    low, high = math.log10(start), math.log10(stop)
    values = [10 ** (low + (high - low) / count * i) for i in range(num)]
    if endpoint and num > 1:
        values[-1] = stop
    return _a.array_of([start, *values[1:]] if num else [], float64)


def fromiter(values, dtype, count=-1):
    return _a.array_of([value for i, value in zip(range(count), values)] if count >= 0 else list(values), dtype)


def copyto(to, source, where=True):
    source = _t(source).to(to._t.dtype)
    to._t.copy_(source if where is True else torch.where(_t(where), source, to._t))


def result_type(*operands):
    kinds = [x if isinstance(x, (_a.dtype, type)) else _a.array_of(x, copies=False).dtype for x in operands]
    return _a.dtype_of(_a._common([_a.dtype_of(kind).name for kind in kinds]))


promote_types = result_type


def can_cast(kind, to, casting="safe"):
    if casting == "unsafe":
        return True
    return result_type(kind, to) == _a.dtype_of(to)


def iinfo(kind):
    return torch.iinfo(_a.dtype_of(kind)._torch())


class finfo:
    """the ends of a type of real numbers"""

    def __init__(self, dtype):
        self.dtype = _a.dtype_of(dtype)
        of_torch, number = torch.finfo(self.dtype._torch()), _a._scalars[self.dtype.name]
        self.bits = of_torch.bits
        self.eps, self.max, self.min = number(of_torch.eps), number(of_torch.max), number(of_torch.min)
        self.tiny = self.smallest_normal = number(of_torch.tiny)
        self.resolution = number(of_torch.resolution)
        self.precision = {16: 3, 32: 6, 64: 15}[self.bits]
        self.nmant = {16: 10, 32: 23, 64: 52}[self.bits]


def fromfunction(function, shape, dtype=float64):
    ways = [torch.arange(n, dtype=_a.dtype_of(dtype)._torch()) for n in shape]
    return function(*[_a.made(grid) for grid in torch.meshgrid(*ways, indexing="ij")])


euler_gamma, True_, False_, little_endian = 0.5772156649015329, bool_(True), bool_(False), True
asfortranarray = asarray_chkfinite = asarray


def require(a, dtype=None, requirements=None):
    return asarray(a, dtype)


def array_equiv(a, b):
    """equal, one repeated as the other needs it"""
    a, b = _t(a), _t(b)
    try:
        torch.broadcast_shapes(a.shape, b.shape)
    except RuntimeError:
        return False
    return bool((a == b).all())


def iscomplexobj(x):
    return _t(x).is_complex()


def isrealobj(x):
    return not iscomplexobj(x)


def broadcast_shapes(*shapes):
    return tuple(torch.broadcast_shapes(*shapes))


def array_repr(arr):
    return repr(arr)


def array_str(a):
    return str(a)


array2string = array_str


def geterr():
    return {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
