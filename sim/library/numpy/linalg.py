import math
import numpy._core.multiarray as _a
import torch
from collections import namedtuple


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


class LinAlgError(ValueError):
    pass


def _unknown(like, *shape):
    """numbers of this shape, in the type of these"""
    return _a.made(torch.empty([int(n) for n in shape], dtype=_floats(like).dtype))


def _sizes(x):
    shape = list(_a.tensor_of(x).shape)
    if len(shape) < 2:
        raise LinAlgError(f"{len(shape)}-dimensional array given. Array must be at least two-dimensional")
    return shape[:-2], shape[-2], shape[-1]


def _square(x):
    batch, m, n = _sizes(x)
    if m != n:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return batch, n


def solve(a, b):
    n = _square(a)[1]
    shape = list(_a.tensor_of(b).shape)
    if shape[-2 if len(shape) > 1 else -1] != n:
        raise ValueError("solve: Input operand 1 has a mismatch in its core dimension 0")
    return _unknown(b, *shape)


def pinv(a, rcond=None):
    batch, m, n = _sizes(a)
    return _unknown(a, *batch, n, m)


def svd(a, full_matrices=True, compute_uv=True):
    batch, m, n = _sizes(a)
    k = min(m, n)
    values = _unknown(a, *batch, k)
    if not compute_uv:
        return values
    return SVDResult(
        _unknown(a, *batch, m, m if full_matrices else k), values, _unknown(a, *batch, n if full_matrices else k, n)
    )


def svdvals(a):
    return svd(a, compute_uv=False)


def qr(a, mode="reduced"):
    batch, m, n = _sizes(a)
    k = m if mode == "complete" else min(m, n)
    return QRResult(_unknown(a, *batch, m, k), _unknown(a, *batch, k, n))


def cholesky(a):
    _square(a)
    return _unknown(a, *_a.tensor_of(a).shape)


def eigh(a, UPLO="L"):
    batch, n = _square(a)
    return EighResult(_unknown(a, *batch, n), _unknown(a, *batch, n, n))


def eigvalsh(a, UPLO="L"):
    return eigh(a)[0]


def slogdet(a):
    batch, _ = _square(a)
    return SlogdetResult(_unknown(a, *batch), _unknown(a, *batch))


def lstsq(a, b, rcond=None):
    _, m, n = _sizes(a)
    more = list(_a.tensor_of(b).shape)[1:]
    return _unknown(a, n, *more), _unknown(a, *(more if m > n else [0])), matrix_rank(a), _unknown(a, min(m, n))


def matrix_rank(a, tol=None):
    return _a.scalar_of(torch.empty((), dtype=torch.int64))


def matrix_power(a, n):
    return _a.made(torch.linalg.matrix_power(_a.tensor_of(a), n))


def multi_dot(arrays):
    found = _floats(arrays[0])
    for each in arrays[1:]:
        found = found @ _floats(each)
    return _a._given(found)


EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SVDResult = namedtuple("SVDResult", "U S Vh")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
