# module: torch.distributions
# defines: Normal Categorical Bernoulli Uniform _kl_functions MultivariateNormal Beta Gamma Dirichlet Exponential Laplace LogNormal Poisson Multinomial OneHotCategorical RelaxedOneHotCategorical RelaxedBernoulli StudentT Cauchy Chi2 Gumbel HalfNormal NegativeBinomial Binomial Geometric Weibull VonMises LowRankMultivariateNormal MixtureSameFamily TransformedDistribution
import math
import torch
import torch._C as _C
import torch.nn.functional as F
from torch.distributions import Distribution, Independent, _integer_interval, _interval, _sum_rightmost, broadcast_all, constraints


class Normal(Distribution):
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = staticmethod(constraints.real)
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        plain = not isinstance(loc, torch.Tensor) and not isinstance(scale, torch.Tensor)
        super().__init__(torch.Size() if plain else self.loc.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        eps = torch.empty(shape, dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc + eps * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        var = self.scale ** 2
        log_scale = self.scale.log()
        return -((value - self.loc) ** 2) / (2 * var) - log_scale - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


def _clamp_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class Categorical(Distribution):
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _lazy = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param = self.probs if probs is not None else self.logits
        self._num_events = self._param.size()[-1]
        super().__init__(torch.Size(self._param.size()[:-1]), validate_args=validate_args)

    def _make_logits(self):
        return torch.log(_clamp_probs(self.probs))

    def _make_probs(self):
        return F.softmax(self.logits, dim=-1)

    @property
    def support(self):
        return _integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self):
        return self._param.size()

    @property
    def mode(self):
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=torch.Size()):
        shape = torch.Size(sample_shape)
        probs_2d = self.probs.reshape(-1, self._num_events)
        samples_2d = torch.multinomial(probs_2d, shape.numel(), True).T
        return samples_2d.reshape(self._extended_shape(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        value = value[..., :1]
        return log_pmf.gather(-1, value).squeeze(-1)

    def entropy(self):
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        p_log_p = logits * self.probs
        return -p_log_p.sum(-1)


class Bernoulli(Distribution):
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = staticmethod(constraints.boolean)
    _lazy = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        plain = not isinstance(logits if probs is None else probs, torch.Tensor)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._param = self.probs if probs is not None else self.logits
        super().__init__(torch.Size() if plain else self._param.size(), validate_args=validate_args)

    def _make_logits(self):
        ps_clamped = _clamp_probs(self.probs)
        return torch.log(ps_clamped) - torch.log1p(-ps_clamped)

    def _make_probs(self):
        return torch.sigmoid(self.logits)

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Uniform(Distribution):
    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        plain = not isinstance(low, torch.Tensor) and not isinstance(high, torch.Tensor)
        super().__init__(torch.Size() if plain else self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self):
        return {"low": lambda value: value < self.high, "high": lambda value: self.low < value}

    @property
    def support(self):
        return _interval(self.low, self.high)

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def stddev(self):
        return (self.high - self.low) / 12 ** 0.5

    @property
    def variance(self):
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        rand = torch.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + rand * (self.high - self.low)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        lb = self.low.le(value).type_as(self.low)
        ub = self.high.gt(value).type_as(self.low)
        return torch.log(lb.mul(ub)) - torch.log(self.high - self.low)

    def entropy(self):
        return torch.log(self.high - self.low)


def _normal_normal(p, q):
    var_ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (var_ratio + t1 - 1 - var_ratio.log())


def _categorical_categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = math.inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


def _bernoulli_bernoulli(p, q):
    t1 = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    t1[q.probs == 0] = math.inf
    t1[p.probs == 0] = 0
    t2 = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    t2[q.probs == 1] = math.inf
    t2[p.probs == 1] = 0
    return t1 + t2


def _independent_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    result = torch.distributions.kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(result, p.reinterpreted_batch_ndims)


_kl_functions = {(Normal, Normal): _normal_normal, (Categorical, Categorical): _categorical_categorical,
                 (Bernoulli, Bernoulli): _bernoulli_bernoulli, (Independent, Independent): _independent_independent}


class _NotModelled:
    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **kwargs):
        _C.refuse(f"torch.distributions.{self.name} is not modelled", "write out its sample and log_prob")


(MultivariateNormal, Beta, Gamma, Dirichlet, Exponential, Laplace, LogNormal, Poisson, Multinomial, OneHotCategorical,
 RelaxedOneHotCategorical, RelaxedBernoulli, StudentT, Cauchy, Chi2, Gumbel, HalfNormal, NegativeBinomial, Binomial, Geometric, Weibull,
 VonMises, LowRankMultivariateNormal, MixtureSameFamily, TransformedDistribution) = [_NotModelled(name) for name in (
     "MultivariateNormal", "Beta", "Gamma", "Dirichlet", "Exponential", "Laplace", "LogNormal", "Poisson", "Multinomial",
     "OneHotCategorical", "RelaxedOneHotCategorical", "RelaxedBernoulli", "StudentT", "Cauchy", "Chi2", "Gumbel", "HalfNormal",
     "NegativeBinomial", "Binomial", "Geometric", "Weibull", "VonMises", "LowRankMultivariateNormal", "MixtureSameFamily",
     "TransformedDistribution")]
