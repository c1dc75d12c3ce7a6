"""scipy.linalg where scipy is nowhere, by shape alone: matrices on the host, whose numbers are not known"""
import numpy as np


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


def block_diag(*arrs):
    parts = [_floats(np.atleast_2d(a)) for a in arrs]
    return _empty(parts[0], sum(p.shape[0] for p in parts), sum(p.shape[1] for p in parts))


_of_numpy = ("det", "inv", "norm", "pinv", "svd", "eigh", "eigvalsh")
_own = {
    "qr": qr, "lu": lu, "solve": solve, "cholesky": cholesky, "sqrtm": cholesky, "expm": cholesky, "logm": cholesky,
    "block_diag": block_diag,
}


def of(name):
    """what scipy.linalg has under the name; None: it is not modelled"""
    return getattr(np.linalg, name) if name in _of_numpy else _own.get(name)
