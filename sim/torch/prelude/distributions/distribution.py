# module: torch.distributions
# defines: Distribution Independent constraints broadcast_all kl_divergence register_kl _sum_rightmost
import torch
import torch._C as _C

# What values must satisfy is computed as PyTorch computes it, and taken to hold: values are not known.


class constraints:
    @staticmethod
    def real(value):
        return value == value

    @staticmethod
    def real_vector(value):
        return (value == value).all(-1)

    @staticmethod
    def positive(value):
        return 0.0 < value

    @staticmethod
    def unit_interval(value):
        return (0.0 <= value) & (value <= 1.0)

    @staticmethod
    def boolean(value):
        return (value == 0) | (value == 1)

    @staticmethod
    def simplex(value):
        return torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


def _interval(low, high):
    return lambda value: (low <= value) & (value <= high)


def _integer_interval(low, high):
    return lambda value: (value % 1 == 0) & (low <= value) & (value <= high)


def _independent(check, count):
    def checked(value):
        result = check(value)
        result = result.reshape(result.shape[:result.dim() - count] + (-1,))
        return result.all(-1)

    return checked


def broadcast_all(*values):
    if not all(isinstance(v, (torch.Tensor, int, float)) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                         "__torch_function__.")
    options = dict(dtype=torch.get_default_dtype())
    for value in values:
        if isinstance(value, torch.Tensor):
            options = dict(dtype=value.dtype, device=value.device)
            break
    return torch.broadcast_tensors(*[v if isinstance(v, torch.Tensor) else torch.tensor(v, **options) for v in values])


def _sum_rightmost(value, dim):
    if dim == 0:
        return value
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


class Distribution:
    has_rsample = False
    has_enumerate_support = False
    _validate_args = True
    _lazy = ()
    arg_constraints = {}
    support = None

    @staticmethod
    def set_default_validate_args(value):
        Distribution._validate_args = value

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(), validate_args=None):
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for param, check in self.arg_constraints.items():
                if param in self._lazy and param not in self.__dict__:
                    continue
                value = getattr(self, param)
                valid = check(value)
                bool(torch._is_all_true(valid))

    def __getattr__(self, name):
        if name not in self._lazy:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        with torch.enable_grad():
            value = getattr(self, "_make_" + name)()
        setattr(self, name, value)
        return value

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @property
    def stddev(self):
        return self.variance.sqrt()

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        raise NotImplementedError

    def log_prob(self, value):
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def perplexity(self):
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=torch.Size()):
        return torch.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _validate_sample(self, value):
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        expected = tuple(self._batch_shape) + tuple(self._event_shape)
        for i, j in zip(reversed(tuple(value.size())), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {tuple(value.size())} vs {expected}.")
        support = self.support
        valid = support(value)
        bool(torch._is_all_true(valid))

    def __repr__(self):
        return type(self).__name__ + "()"


class Independent(Distribution):
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        shape = tuple(base_distribution.batch_shape) + tuple(base_distribution.event_shape)
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape)")
        event_dim = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        super().__init__(torch.Size(shape[:len(shape) - event_dim]), torch.Size(shape[len(shape) - event_dim:]), validate_args)

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @property
    def support(self):
        return _independent(self.base_dist.support, self.reinterpreted_batch_ndims)

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def mode(self):
        return self.base_dist.mode

    @property
    def variance(self):
        return self.base_dist.variance

    def sample(self, sample_shape=torch.Size()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        log_prob = self.base_dist.log_prob(value)
        return _sum_rightmost(log_prob, self.reinterpreted_batch_ndims)

    def entropy(self):
        entropy = self.base_dist.entropy()
        return _sum_rightmost(entropy, self.reinterpreted_batch_ndims)


_divergences = {}


def register_kl(type_p, type_q):
    def decorator(fun):
        _divergences[type_p, type_q] = fun
        return fun

    return decorator


def kl_divergence(p, q):
    known = torch.distributions._kl_functions
    for kinds, function in list(_divergences.items()) + list(known.items()):
        if type(p) is kinds[0] and type(q) is kinds[1]:
            return function(p, q)
    _C.refuse(f"the divergence of {type(p).__name__} and {type(q).__name__} is not modelled", "write its formula out")
