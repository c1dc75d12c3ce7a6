import torch.autograd
import torch.distributions.constraints as constraints
from torch._refs.gamma import is_known, variate
from torch.distributions.exp_family import ExponentialFamily


class _Dirichlet(torch.autograd.Function):
    """Source: at::native::_s_dirichlet_cuda: gamma variates, divided by their sums in place"""

    @staticmethod
    def forward(ctx, concentration):
        x = torch._standard_gamma(concentration)
        x.div_(x.sum(-1, keepdim=True))
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        grad = torch.empty(x.shape, dtype=x.dtype, device=x.device)  # torch._dirichlet_grad's, which reads the total
        return grad * (grad_output - (x * grad_output).sum(-1, True))


def _of_host(concentration):
    """Source: at::native::_s_dirichlet_cpu: variates in double precision, divided by their sums"""
    tiny = torch.finfo(concentration.dtype).tiny
    parts = []
    for alphas in concentration.reshape(-1, concentration.shape[-1]).tolist():
        variates = [max(2.2250738585072014e-308, variate(alpha)) for alpha in alphas]
        total = sum(variates)
        parts.append([min(0.9999999403953552, max(tiny, each / total)) for each in variates])
    return torch.tensor(parts, dtype=concentration.dtype).reshape(concentration.shape)


class Dirichlet(ExponentialFamily):
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._with_views(Dirichlet, batch_shape, _instance, ("concentration",), self.event_shape)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def variance(self):
        con0 = self.concentration.sum(-1, True)
        return self.concentration * (con0 - self.concentration) / (con0.pow(2) * (con0 + 1))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        concentration = self.concentration.expand(shape)
        if concentration.device.type == "cpu" and not concentration.requires_grad and is_known(concentration):
            return _of_host(concentration)
        return _Dirichlet.apply(concentration)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (torch.xlogy(self.concentration - 1.0, value).sum(-1) + torch.lgamma(self.concentration.sum(-1))
                - torch.lgamma(self.concentration).sum(-1))

    def entropy(self):
        k = self.concentration.size(-1)
        a0 = self.concentration.sum(-1)
        return (torch.lgamma(self.concentration).sum(-1) - torch.lgamma(a0) - (k - a0) * torch.digamma(a0)
                - ((self.concentration - 1.0) * torch.digamma(self.concentration)).sum(-1))
