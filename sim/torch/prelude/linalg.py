# module: torch.linalg
# defines: vector_norm norm matmul
import torch


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return torch.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype)


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    return torch.linalg_vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def matmul(input, other):
    return torch.matmul(input, other)
