from collections import namedtuple

import _tidemark
import torch
import torch._C as _C


LstsqResult = namedtuple("linalg_lstsq", "solution residuals rank singular_values")
QRResult = namedtuple("linalg_qr", "Q R")
SVDResult = namedtuple("linalg_svd", "U S Vh")
EighResult = namedtuple("linalg_eigh", "eigenvalues eigenvectors")


class LinAlgError(RuntimeError):
    pass


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return torch.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype)


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    if ord is None:
        return torch.linalg_vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None and A.dim() == 2 or isinstance(dim, (tuple, list)) and len(dim) == 2:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return torch.linalg_vector_norm(A, ord, dim, keepdim, dtype=dtype)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    if ord == "fro":
        return torch.linalg_vector_norm(A, 2, list(dim), keepdim, dtype=dtype)
    if ord in (1, -1, float("inf"), -float("inf")):
        rows, columns = dim[0] % A.dim(), dim[1] % A.dim()
        if ord in (float("inf"), -float("inf")):
            rows, columns = columns, rows
        sums = torch.linalg_vector_norm(A, 1, rows, keepdim, dtype=dtype)
        if not keepdim and rows < columns:
            columns -= 1
        return sums.amax(columns, keepdim) if ord > 0 else sums.amin(columns, keepdim)
    if ord in ("nuc", 2) and sorted(d % A.dim() for d in dim) == [A.dim() - 2, A.dim() - 1] and dtype is None:
        values = svdvals(A)
        norms = values.sum(-1) if ord == "nuc" else values.amax(-1)
        return norms[..., None, None] if keepdim else norms
    _unknown("matrix_norm of order " + repr(ord))


def matmul(input, other):
    return torch.matmul(input, other)


def cross(input, other, *, dim=-1):
    return torch.cross(input, other, dim)


def vecdot(x, y, *, dim=-1):
    return torch._linalg_vecdot(x, y, dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return torch.diagonal(A, offset, dim1, dim2)


def matrix_power(A, n):
    if n < 0:
        _unknown("matrix_power of a negative exponent")
    if n == 0:
        _C.refuse("matrix_power with exponent 0 is not modelled", "use torch.eye")
    if n == 1:
        return A.clone()
    if n == 2:
        return torch.matmul(A, A)
    if n == 3:
        return torch.matmul(torch.matmul(A, A), A)
    power, result = None, None
    while n > 0:
        power = A if power is None else torch.matmul(power, power)
        if n % 2 == 1:
            result = power if result is None else torch.matmul(result, power)
        n //= 2
    return result


def _order(sizes):
    """where the cheapest chain of products is split: PyTorch's own dynamic program"""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best = None
            for k in range(i, j):
                here = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if best is None or here < best:
                    best = here
                    split[i][j] = k
            cost[i][j] = best
    return split


def _chain(tensors, split, i, j):
    if i == j:
        return tensors[i]
    left = _chain(tensors, split, i, split[i][j])
    right = _chain(tensors, split, split[i][j] + 1, j)
    return torch.mm(left, right)


def multi_dot(tensors):
    if torch.is_autocast_enabled():
        _C.refuse("multi_dot under autocast is not modelled", "write the products with @")
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors but got " + str(len(tensors)))
    shape = []
    if tensors[0].dim() == 1:
        tensors[0] = tensors[0].unsqueeze(0)
    else:
        shape.append(tensors[0].size(0))
    if tensors[-1].dim() == 1:
        tensors[-1] = tensors[-1].unsqueeze(-1)
    else:
        shape.append(tensors[-1].size(1))
    if len(tensors) == 2:
        return torch.mm(tensors[0], tensors[1]).view(shape)
    if len(tensors) == 3:
        a, b, c = tensors
        first = a.size(0) * a.size(1) * b.size(1) + a.size(0) * b.size(1) * c.size(1)
        second = b.size(0) * b.size(1) * c.size(1) + a.size(0) * a.size(1) * c.size(1)
        if first > second:
            return torch.mm(a, torch.mm(b, c)).view(shape)
        return torch.mm(torch.mm(a, b), c).view(shape)
    sizes = [t.size(0) for t in tensors] + [tensors[-1].size(1)]
    return _chain(tensors, _order(sizes), 0, len(tensors) - 1).view(shape)


def _unknown(name):
    _C.refuse(f"torch.linalg.{name} is not modelled: what cuSOLVER asks for beside PyTorch's own tensors is not known",
              "leave it out, or put tensors of the same sizes in its place")


def _told(A):
    if A.is_cuda:
        _tidemark.note("cuSOLVER's workspaces are taken to be empty: a GPU asks for more")


def _sizes_of(name, A):
    """The sizes of matrices whose factors' numbers are not computed, and that need no gradient."""
    if A.requires_grad and torch.is_grad_enabled():
        _C.refuse(f"torch.linalg.{name} of a tensor that needs a gradient is not modelled", "call it on its detach()")
    if A.dim() < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    _told(A)
    return list(A.shape[:-2]), A.shape[-2], A.shape[-1]


def _on_host(name, A):
    if A.is_cuda:
        _unknown(name)
    return _sizes_of(name, A)


def _squares(name, A):
    batch, rows, columns = _sizes_of(name, A)
    if rows != columns:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    return batch, rows


def _check(info):
    """the host asks whether each matrix could be factored"""
    if info.is_cuda:
        torch._linalg_check(info)


def _factor(A, batch, rows, columns):
    """LAPACK writes it column by column."""
    return A.new_empty([*batch, columns, rows]).transpose(-2, -1)


def _real(A):
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(A.dtype, A.dtype)


def inv(A):
    _told(A)
    return torch._linalg_inv(A)


def inv_ex(A, *, check_errors=False):
    _unknown("inv_ex")


def det(A):
    _told(A)
    return torch._linalg_det(A)


def slogdet(A):
    _told(A)
    return torch._linalg_slogdet(A)


def cholesky(A, *, upper=False):
    _told(A)
    return torch._linalg_cholesky(A, upper)


def cholesky_ex(A, *, upper=False, check_errors=False):
    """On the host the matrices are taken to be positive definite."""
    result = torch._linalg_cholesky_ex(A, upper, check_errors)
    if not A.is_cuda:
        result.info.zero_()
    return result


def qr(A, mode="reduced"):
    batch, rows, columns = _sizes_of("qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    if A.is_cuda and (batch or mode != "reduced"):
        _unknown("qr of a batch, or in another mode than 'reduced',")
    inner = rows if mode == "complete" else min(rows, columns)
    left = A.new_empty([0]) if mode == "r" else _factor(A, batch, rows, inner)
    right = _factor(A, batch, inner, columns)
    if A.is_cuda:
        scales = A.new_empty([inner])
        # The codes of failure of geqrf, then those of orgqr.
        A.new_empty([1], dtype=torch.int32)
        A.new_empty([1], dtype=torch.int32)
        del scales
    return QRResult(left, right)


def eigh(A, UPLO="L"):
    batch, n = _squares("eigh", A)
    vectors = _factor(A, batch, n, n)
    values = A.new_empty([*batch, n], dtype=_real(A))
    _check(A.new_empty(batch, dtype=torch.int32))
    return EighResult(values, vectors)


def eigvalsh(A, UPLO="L"):
    batch, n = _squares("eigvalsh", A)
    values = A.new_empty([*batch, n], dtype=_real(A))
    if A.is_cuda:
        work = _factor(A, batch, n, n)
        info = A.new_empty(batch, dtype=torch.int32)
        _check(info)
        del info, work
    return values


def eig(A):
    _unknown("eig")


def eigvals(A):
    _unknown("eigvals")


def _work(A, batch, rows, columns):
    """what cuSOLVER writes over"""
    return _factor(A, batch, rows, columns) if A.is_cuda else None


def svd(A, full_matrices=True, *, driver=None):
    batch, rows, columns = _sizes_of("svd", A)
    least = min(rows, columns)
    left = _factor(A, batch, rows, rows if full_matrices else least)
    right = _factor(A, batch, columns if full_matrices else least, columns)
    values = A.new_empty([*batch, least], dtype=_real(A))
    info = A.new_empty(batch, dtype=torch.int32)
    _work(A, batch, rows, columns)
    _check(info)
    return SVDResult(left, values, right)


def svdvals(A, *, driver=None):
    batch, rows, columns = _sizes_of("svdvals", A)
    least = min(rows, columns)
    values = A.new_empty([*batch, least], dtype=_real(A))
    info = A.new_empty(batch, dtype=torch.int32)
    if A.is_cuda:
        work, left = _work(A, batch, rows, columns), _work(A, batch, rows, least)
        right = _work(A, batch, least, columns)
        del right, left, work
    _check(info)
    return values


def pinv(A, *, atol=None, rtol=None, hermitian=False):
    batch, rows, columns = _on_host("pinv", A)
    return A.new_empty([*batch, columns, rows])


def solve(A, B, *, left=True):
    if A.dim() == 2 and A.is_cuda:
        _tidemark.note("cuSOLVER's workspaces are taken to be empty: a GPU asks for more")
    return torch._linalg_solve(A, B, not left)


def solve_ex(A, B, *, left=True, check_errors=False):
    _unknown("solve_ex")


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    if not left:
        # The same equation turned: the same requests.
        return torch._solve_triangular(A.mT, B.mT, not upper).mT
    return torch._solve_triangular(A, B, upper)


def lstsq(A, B, rcond=None, *, driver=None):
    """On the host, of equations that need no gradient; the numbers are not computed."""
    if A.is_cuda or A.requires_grad or B.requires_grad or driver not in (None, "gelsy", "gels"):
        _unknown("lstsq")
    if A.dim() < 2 or A.dtype != B.dtype:
        _C.refuse("lstsq of tensors that do not fit is not modelled", "give a matrix, and the right sides in its type")
    batch, rows, columns = list(A.shape[:-2]), A.shape[-2], A.shape[-1]
    vector = B.dim() == 1 or B.dim() == A.dim() - 1 and B.shape == A.shape[:-1]
    sides = [] if vector else [B.shape[-1]]
    if list(B.shape) != [*batch, rows, *sides]:
        _C.refuse("lstsq of right sides that are broadcast is not modelled", "expand them")
    squares = [*batch, *(sides or [1])] if rows > columns and driver == "gels" else [0]
    rank = torch.empty(batch if driver != "gels" else [0], dtype=torch.int64)
    # LAPACK writes it over the right sides, column by column.
    whole = A.new_empty([*batch, *(sides or [1]), max(rows, columns)])
    solution = whole.transpose(-2, -1).narrow(-2, 0, columns)
    return LstsqResult(solution.squeeze(-1) if vector else solution, A.new_empty(squares), rank, A.new_empty([0]))


def lu(A, *, pivot=True):
    _unknown("lu")


def lu_factor(A, *, pivot=True):
    _unknown("lu_factor")


def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    _unknown("lu_solve")


def matrix_exp(A):
    _unknown("matrix_exp")


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False):
    _unknown("matrix_rank")


def cond(A, p=None):
    _unknown("cond")


def householder_product(A, tau):
    _unknown("householder_product")


def vander(x, N=None):
    n = x.size(-1) if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = torch.cumprod(x.unsqueeze(-1).expand(list(x.shape) + [n - 1]), -1)
    ones = powers.new_ones(list(x.shape) + [1])
    out = torch.cat([ones, powers], -1)
    del powers, ones
    return out


def tensorinv(A, ind=2):
    _unknown("tensorinv")


def tensorsolve(A, B, dims=None):
    _unknown("tensorsolve")
