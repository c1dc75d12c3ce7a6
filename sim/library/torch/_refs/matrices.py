from collections import namedtuple

import torch

_QR = namedtuple("qr", "Q R")
_SVD = namedtuple("svd", "U S V")


def inverse(input):
    return torch.linalg.inv(input)


def det(input):
    return torch.linalg.det(input)


def slogdet(input):
    return torch.linalg.slogdet(input)


def logdet(input):
    sign, magnitude = torch.linalg.slogdet(input)
    return torch.where(sign == -1.0, torch.nan, magnitude)


def cholesky(input, upper=False):
    return torch.linalg.cholesky(input, upper=upper)


def cholesky_inverse(input, upper=False):
    torch.linalg._unknown("cholesky_inverse")


def cholesky_solve(input, L, upper=False):
    torch.linalg._unknown("cholesky_solve")


def qr(input, some=True):
    return _QR(*torch.linalg.qr(input, "reduced" if some else "complete"))


def svd(input, some=True, compute_uv=True):
    """Without vectors they are zeros: square and whole, as PyTorch has them."""
    left, values, right = torch.linalg.svd(input, full_matrices=not some and compute_uv)
    if compute_uv:
        return _SVD(left, values, right.mH)
    batch, rows, columns = list(input.shape[:-2]), input.shape[-2], input.shape[-1]
    return _SVD(input.new_zeros([*batch, rows, rows]), values, input.new_zeros([*batch, columns, columns]))


def pinverse(input, rcond=1e-15):
    return torch.linalg.pinv(input)


def matrix_power(input, n):
    return torch.linalg.matrix_power(input, n)


def matrix_exp(input):
    return torch.linalg.matrix_exp(input)


def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False):
    torch.linalg._unknown("triangular_solve")


def lstsq(input, A):
    return torch.linalg.lstsq(input, A)


def lu(input, pivot=True):
    return torch.linalg.lu(input)
