import math
import torch
import torch._C as _C
import torch.nn.functional as F
from torch.distributions.multivariate_normal import _mahalanobis
from torch.distributions.utils import _sum_rightmost

_divergences = {}
# Those below, by the names of what they compare: a class is made once it is needed.
_known = {
    ("Normal", "Normal"): "normal",
    ("Categorical", "Categorical"): "categorical",
    ("Bernoulli", "Bernoulli"): "bernoulli",
    ("Independent", "Independent"): "independent",
    ("Beta", "Beta"): "beta",
    ("Dirichlet", "Dirichlet"): "dirichlet",
    ("Gamma", "Gamma"): "gamma",
    ("Exponential", "Exponential"): "exponential",
    ("Laplace", "Laplace"): "laplace",
    ("Uniform", "Uniform"): "uniform",
    ("OneHotCategorical", "OneHotCategorical"): "one_hot",
    ("Poisson", "Poisson"): "poisson",
    ("HalfNormal", "HalfNormal"): "half_normal",
    ("MultivariateNormal", "MultivariateNormal"): "multivariate_normal",
    ("TransformedDistribution", "TransformedDistribution"): "transformed",
}


def register_kl(type_p, type_q):
    def decorator(fun):
        _divergences[type_p, type_q] = fun
        return fun

    return decorator


def _function_for(type_p, type_q):
    for p in type_p.__mro__:
        for q in type_q.__mro__:
            if (p, q) in _divergences:
                return _divergences[p, q]
            name = _known.get((p.__name__, q.__name__))
            if name is not None and all(getattr(torch.distributions, kind.__name__) is kind for kind in (p, q)):
                return _formulas[name]
    return None


def kl_divergence(p, q):
    function = _function_for(type(p), type(q))
    if function is None:
        _C.refuse(
            f"the divergence of {type(p).__name__} and {type(q).__name__} is not modelled", "write its formula out"
        )
    return function(p, q)


def _normal(p, q):
    var_ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (var_ratio + t1 - 1 - var_ratio.log())


def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence of Multivariate Normals with different event shapes cannot be computed")
    half_term1 = q._half_log_det() - p._half_log_det()
    ours, theirs = q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril
    batch_shape = tuple(torch.broadcast_shapes(ours.shape[:-2], theirs.shape[:-2]))
    n = p.event_shape[0]
    ratio = torch.linalg.solve_triangular(
        ours.expand(batch_shape + (n, n)), theirs.expand(batch_shape + (n, n)), upper=False
    )
    term2 = ratio.reshape(-1, n * n).pow(2).sum(-1).reshape(ratio.shape[:-2])
    del ratio
    term3 = _mahalanobis(ours, q.loc - p.loc)
    return half_term1 + 0.5 * (term2 + term3 - n)


def _categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = math.inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


def _bernoulli(p, q):
    t1 = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    t1[q.probs == 0] = math.inf
    t1[p.probs == 0] = 0
    t2 = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    t2[q.probs == 1] = math.inf
    t2[p.probs == 1] = 0
    return t1 + t2


def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    result = kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(result, p.reinterpreted_batch_ndims)


def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


def _beta(p, q):
    sum_params_p = p.concentration1 + p.concentration0
    sum_params_q = q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + sum_params_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + sum_params_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    t5 = (sum_params_q - sum_params_p) * torch.digamma(sum_params_p)
    return t1 - t2 + t3 + t4 + t5


def _dirichlet(p, q):
    sum_p = p.concentration.sum(-1)
    sum_q = q.concentration.sum(-1)
    t1 = sum_p.lgamma() - sum_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - sum_p.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


def _gamma(p, q):
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    t4 = (q.rate - p.rate) * (p.concentration / p.rate)
    return t1 + t2 + t3 + t4


def _exponential(p, q):
    rate_ratio = q.rate / p.rate
    t1 = -rate_ratio.log()
    return t1 + rate_ratio - 1


def _laplace(p, q):
    scale_ratio = p.scale / q.scale
    loc_abs_diff = (p.loc - q.loc).abs()
    t1 = -scale_ratio.log()
    t2 = loc_abs_diff / q.scale
    t3 = scale_ratio * torch.exp(-loc_abs_diff / p.scale)
    return t1 + t2 + t3 - 1


def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = math.inf
    return result


def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


_formulas = {
    "normal": _normal,
    "half_normal": _half_normal,
    "multivariate_normal": _multivariate_normal,
    "categorical": _categorical,
    "one_hot": _one_hot,
    "bernoulli": _bernoulli,
    "independent": _independent,
    "transformed": _transformed,
    "beta": _beta,
    "dirichlet": _dirichlet,
    "gamma": _gamma,
    "exponential": _exponential,
    "laplace": _laplace,
    "uniform": _uniform,
    "poisson": _poisson,
}
