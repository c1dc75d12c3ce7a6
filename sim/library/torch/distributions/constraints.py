import torch


# What values must satisfy is computed as PyTorch computes it, and taken to hold: values are not known.


class Constraint:
    is_discrete = False
    event_dim = 0

    def check(self, value):
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__ + "()"


class _Checked(Constraint):
    def __init__(self, function, event_dim=0, is_discrete=False):
        self.function, self.event_dim, self.is_discrete = function, event_dim, is_discrete

    def check(self, value):
        return self.function(value)


class _Independent(Constraint):
    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        result = result.reshape(result.shape[:result.dim() - self.reinterpreted_batch_ndims] + (-1,))
        result = result.all(-1)
        return result


class MixtureSameFamilyConstraint(Constraint):
    def __init__(self, base_constraint):
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value):
        unsqueezed_value = value.unsqueeze(-1 - self.event_dim)
        result = self.base_constraint.check(unsqueezed_value)
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        result = result.reshape(result.shape[:value.dim() - self.event_dim] + (-1,))
        result = result.all(-1)
        return result


class _Dependent(Constraint):
    """on what is known of the distribution only: it is not checked"""

    def __call__(self, *, is_discrete=None, event_dim=None):
        return _Dependent()

    def check(self, x):
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    return isinstance(constraint, _Dependent)


def dependent_property(fn=None, *, is_discrete=None, event_dim=None):
    return property if fn is None else property(fn)


def independent(base_constraint, reinterpreted_batch_ndims):
    return _Independent(base_constraint, reinterpreted_batch_ndims)


def greater_than(lower_bound):
    return _Checked(lambda value: lower_bound < value)


def greater_than_eq(lower_bound):
    return _Checked(lambda value: lower_bound <= value)


def less_than(upper_bound):
    return _Checked(lambda value: value < upper_bound)


def interval(lower_bound, upper_bound):
    return _Checked(lambda value: (lower_bound <= value) & (value <= upper_bound))


def half_open_interval(lower_bound, upper_bound):
    return _Checked(lambda value: (lower_bound <= value) & (value < upper_bound))


def integer_interval(lower_bound, upper_bound):
    return _Checked(lambda value: (value % 1 == 0) & (lower_bound <= value) & (value <= upper_bound), is_discrete=True)


def multinomial(upper_bound):
    return _Checked(lambda x: (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= upper_bound), 1, True)


def _integer_from(lower_bound):
    return _Checked(lambda value: (value % 1 == 0) & (value >= lower_bound), is_discrete=True)


def _is_one_hot(value):
    is_boolean = (value == 0) | (value == 1)
    is_normalized = value.sum(-1).eq(1)
    return is_boolean.all(-1) & is_normalized


def _is_lower_triangular(value):
    value_tril = value.tril()
    return (value_tril == value).view(value.shape[:-2] + (-1,)).min(-1)[0]


def _is_lower_cholesky(value):
    value_tril = value.tril()
    lower_triangular = (value_tril == value).view(value.shape[:-2] + (-1,)).min(-1)[0]
    positive_diagonal = (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]
    return lower_triangular & positive_diagonal


def _is_square(value):
    return torch.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=torch.bool, device=value.device)


def _is_symmetric(value):
    square = _is_square(value)
    square.all()
    if value.shape[-2] != value.shape[-1]:
        return square
    return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


def _is_positive_definite(value):
    """Of a single matrix on the device it is what is known without cuSOLVER, whose needs are not."""
    symmetric = _is_symmetric(value)
    symmetric.all()
    if value.shape[-2] != value.shape[-1] or value.is_cuda and value.numel() == value.shape[-1] ** 2:
        return symmetric
    return torch.linalg.cholesky_ex(value).info.eq(0)


dependent = _Dependent()
boolean = _Checked(lambda value: (value == 0) | (value == 1), is_discrete=True)
one_hot = _Checked(_is_one_hot, 1, True)
nonnegative_integer = _integer_from(0)
positive_integer = _integer_from(1)
real = _Checked(lambda value: value == value)
real_vector = _Independent(real, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Checked(lambda value: torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6), 1)
lower_triangular = _Checked(_is_lower_triangular, 2)
lower_cholesky = _Checked(_is_lower_cholesky, 2)
square = _Checked(_is_square, 2)
symmetric = _Checked(_is_symmetric, 2)
positive_definite = _Checked(_is_positive_definite, 2)
