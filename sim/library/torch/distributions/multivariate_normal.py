import math
import torch
import torch.distributions.constraints as constraints
from torch.distributions.distribution import Distribution
from torch.distributions.utils import _standard_normal, lazy_property


def _times_vector(matrix, vector):
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _mahalanobis(L, x):
    """x' (L L')^-1 x, of batches. One equation has all x that share a matrix as its right sides."""
    n = x.size(-1)
    shape = x.shape[:-1]
    dims, matrices = len(shape), L.dim() - 2
    outer = dims - matrices
    # Each dimension that a matrix has too is split in two: of the matrix, and of what repeats it.
    split = tuple(x.shape[:outer])
    for ours, theirs in zip(L.shape[:-2], x.shape[outer:-1]):
        split += (theirs // ours, ours)
    x = x.reshape(split + (n,))
    last = outer + 2 * matrices
    order = list(range(outer)) + list(range(outer, last, 2)) + list(range(outer + 1, last, 2)) + [last]
    x = x.permute(order)
    flat_L = L.reshape(-1, n, n)
    flat_x = x.reshape(-1, flat_L.size(0), n)
    sides = flat_x.permute(1, 2, 0)
    squares = torch.linalg.solve_triangular(flat_L, sides, upper=False).pow(2).sum(-2)
    squares = squares.t()
    squares = squares.reshape(x.shape[:-1])
    back = list(range(outer))
    for i in range(matrices):
        back += [outer + i, dims + i]
    return squares.permute(back).reshape(shape)


def _scale_of_precision(P):
    L = torch.linalg.cholesky(torch.flip(P, (-2, -1)))
    L = torch.transpose(torch.flip(L, (-2, -1)), -2, -1)
    identity = torch.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    return torch.linalg.solve_triangular(L, identity, upper=False)


class MultivariateNormal(Distribution):
    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        named = [name for name in given if given[name] is not None]
        if len(named) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        matrix = given[named[0]]
        if matrix.dim() < 2:
            raise ValueError(
                f"{named[0]} matrix must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, named[0], matrix.expand(tuple(batch_shape) + (-1, -1)))
        self.loc = loc.expand(tuple(batch_shape) + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _scale_of_precision(precision_matrix)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MultivariateNormal, _instance)
        batch_shape, event = tuple(batch_shape), tuple(self._event_shape)
        new.loc = self.loc.expand(batch_shape + event)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(batch_shape + event + event))
        return self._as_expanded(new, batch_shape)

    def _expanded(self, matrix):
        return matrix.expand(tuple(self._batch_shape) + tuple(self._event_shape) + tuple(self._event_shape))

    @lazy_property
    def scale_tril(self):
        return self._expanded(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self._expanded(torch.matmul(self._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril.mT))

    @lazy_property
    def precision_matrix(self):
        return self._expanded(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(
            tuple(self._batch_shape) + tuple(self._event_shape)
        )

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _times_vector(self._unbroadcasted_scale_tril, eps)

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diff = value - self.loc
        distance = _mahalanobis(self._unbroadcasted_scale_tril, diff)
        half_log_det = self._half_log_det()
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det

    def entropy(self):
        half_log_det = self._half_log_det()
        result = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half_log_det
        return result.expand(self._batch_shape) if len(self._batch_shape) else result
