import _tidemark
import numpy as np

det, inv, norm, pinv, svd, eigh, eigvalsh, LinAlgError = [
    getattr(np.linalg, name)
    for name in ("det", "inv", "norm", "pinv", "svd", "eigh", "eigvalsh", "LinAlgError")
]


def _floats(a):
    a = np.asarray(a)
    return a if a.dtype.kind in "fc" else a.astype(np.float64)


def _empty(like, *shape):
    return np.empty(shape, dtype=like.dtype)


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    a = _floats(a)
    m, n = a.shape
    k = min(m, n) if mode == "economic" else m
    r = _empty(a, k, n)
    found = (r,) if mode == "r" else (_empty(a, m, k), r)
    return found + ((np.empty(n, dtype=np.int32),) if pivoting else ())


def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    a = _floats(a)
    m, n = a.shape
    k = min(m, n)
    if permute_l:
        return _empty(a, m, k), _empty(a, k, n)
    p = np.empty(m, dtype=np.int32) if p_indices else _empty(a, m, m)
    return p, _empty(a, m, k), _empty(a, k, n)


def solve(a, b, **options):
    return np.linalg.solve(_floats(a), _floats(b))


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    a = _floats(a)
    return _empty(a, *a.shape)


sqrtm = expm = logm = cholesky


def block_diag(*arrs):
    parts = [_floats(np.atleast_2d(a)) for a in arrs]
    return _empty(parts[0], sum(p.shape[0] for p in parts), sum(p.shape[1] for p in parts))


def __getattr__(name):
    return _tidemark.later("scipy.linalg." + name)
