"""Factorisations of a random subspace of few dimensions. Source: torch/_lowrank.py."""

import torch


def _floating(A):
    return A.dtype if A.dtype in (torch.float16, torch.float32, torch.float64) else torch.float32


def get_approximate_basis(A, q, niter=2, M=None):
    without_mean = lambda product, mean, factor: product if mean is None else product - torch.matmul(mean, factor)
    dtype = A.dtype if A.is_complex() else _floating(A)
    R = torch.randn(A.shape[-1], q, dtype=dtype, device=A.device)
    X = without_mean(torch.matmul(A, R), M, R)
    Q = torch.linalg.qr(X).Q
    for _ in range(2 if niter is None else niter):
        X = without_mean(torch.matmul(A.mH, Q), None if M is None else M.mH, Q)
        Q = torch.linalg.qr(X).Q
        X = without_mean(torch.matmul(A, Q), M, Q)
        Q = torch.linalg.qr(X).Q
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    q = 6 if q is None else q
    if M is not None:
        M = M.broadcast_to(A.size())
    is_wide = A.shape[-2] < A.shape[-1]
    if is_wide:
        A = A.mH
        if M is not None:
            M = M.mH
    Q = get_approximate_basis(A, q, niter=niter, M=M)
    B = torch.matmul(Q.mH, A)
    if M is not None:
        B = B - torch.matmul(Q.mH, M)
    U, S, Vh = torch.linalg.svd(B, full_matrices=False)
    V = Vh.mH
    U = Q.matmul(U)
    return (V, S, U) if is_wide else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return svd_lowrank(A, q, niter=niter)
    C = A.mean(dim=(-2,), keepdim=True)
    return svd_lowrank(A - C, q, niter=niter)
