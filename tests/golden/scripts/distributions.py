"""torch.distributions as policies, mixtures and relaxations use them: samples, densities, entropies, divergences and their gradients."""

import math

import torch
import torch.distributions as D
import torch.nn.functional as F
from torch import nn
from torch.distributions import constraints
from torch.distributions.transforms import AffineTransform, ComposeTransform, SigmoidTransform, TanhTransform
from torch.distributions.utils import lazy_property

device = "cuda"


class AtanhTransform(D.transforms.Transform):
    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def __init__(self, cache_size=1):
        super().__init__(cache_size=cache_size)

    def __eq__(self, other):
        return isinstance(other, AtanhTransform)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return 0.5 * (y.log1p() - (-y).log1p())

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class SquashedNormal(D.transformed_distribution.TransformedDistribution):
    def __init__(self, loc, scale):
        self.loc, self.scale = loc, scale
        self.base_dist = D.Normal(loc, scale)
        super().__init__(self.base_dist, [AtanhTransform()])

    @property
    def mean(self):
        mu = self.loc
        for tr in self.transforms:
            mu = tr(mu)
        return mu


class Triangular(D.Distribution):
    arg_constraints = {"width": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, width, validate_args=None):
        self.width = width
        super().__init__(width.size(), validate_args=validate_args)

    @lazy_property
    def height(self):
        return 1.0 / self.width

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return (torch.rand(shape, device=self.width.device) - torch.rand(shape, device=self.width.device)) * self.width

    def log_prob(self, value):
        return (self.height - value.abs() * self.height ** 2).clamp_min(1e-6).log()


net = nn.Linear(8, 60).to(device)
optimizer = torch.optim.Adam(net.parameters())


def heads(rows=16):
    out = net(torch.randn(rows, 8, device=device))
    return out[:, :6], F.softplus(out[:, 6:12]) + 1e-3, out[:, 12:36].unflatten(1, (4, 6)), out[:, 36:]


def actor():
    loc, scale, logits, rest = heads()
    dist = SquashedNormal(loc, scale)
    action = dist.rsample()
    log_prob = dist.log_prob(action).sum(-1, keepdim=True)
    other = D.TransformedDistribution(D.Independent(D.Normal(loc, scale), 1), [TanhTransform(cache_size=1), AffineTransform(0.5, 2.0, event_dim=1)])
    seen = other.rsample((3,)).detach()
    return log_prob.mean() + dist.mean.square().mean() + other.log_prob(seen.clamp(-1.4, 2.4)).mean()


def bounded():
    loc, scale, logits, rest = heads()
    beta = D.Independent(D.Beta(scale + 1, F.softplus(loc) + 1), 1)
    action = beta.sample()
    old = D.Beta(scale.detach() + 1, torch.ones_like(scale))
    pathwise = D.Beta(scale, 1.5).rsample()
    return (-beta.log_prob(action) - 0.01 * beta.entropy()).mean() + D.kl_divergence(old, beta.base_dist).mean() + pathwise.mean()


def discrete():
    loc, scale, logits, rest = heads()
    one_hot = D.OneHotCategorical(logits=logits)
    straight = D.Independent(D.OneHotCategoricalStraightThrough(logits=logits), 1)
    z = straight.rsample()
    prior = D.Independent(D.OneHotCategoricalStraightThrough(logits=torch.zeros_like(logits)), 1)
    loss = D.kl_divergence(straight, prior).mean() + z.square().mean() + one_hot.log_prob(one_hot.sample()).mean() + one_hot.mode.sum()
    relaxed = D.RelaxedOneHotCategorical(torch.tensor(0.7, device=device), logits=logits)
    gate = D.RelaxedBernoulli(torch.tensor([0.5], device=device), logits=loc)
    loss = loss + relaxed.rsample().square().mean() + gate.rsample().mean() + gate.log_prob(gate.rsample().detach()).mean()
    counts = D.Multinomial(5, logits=loc)
    return loss + counts.log_prob(counts.sample()).mean() + D.Geometric(torch.sigmoid(loc), validate_args=False).log_prob(torch.ones_like(loc)).mean()


def mixture():
    loc, scale, logits, rest = heads()
    components = D.Independent(D.Laplace(rest[:, :12].view(-1, 4, 3), F.softplus(rest[:, 12:]).view(-1, 4, 3) + 1e-2), 1)
    mix = D.MixtureSameFamily(D.Categorical(logits=loc[:, :4]), components)
    flat = D.MixtureSameFamily(D.Categorical(probs=scale), D.Laplace(loc, scale))
    return -mix.log_prob(mix.sample()).mean() - flat.log_prob(flat.sample((2,))).mean() + mix.mean.square().mean()


def positive():
    loc, scale, logits, rest = heads()
    total = 0.0
    for dist in (D.Gamma(scale, scale + 1), D.Exponential(scale), D.LogNormal(loc, scale), D.HalfNormal(scale), D.Laplace(loc, scale),
                 D.Gumbel(loc, scale), D.StudentT(scale + 2, loc, scale), D.Uniform(loc, loc + scale), D.Weibull(scale, scale + 0.5)):
        value = dist.rsample()
        total = total + dist.log_prob(value.detach()).mean() + value.mean() + dist.entropy().mean()
    for dist in (D.Poisson(scale), D.NegativeBinomial(5.0, logits=loc), D.Bernoulli(logits=loc)):
        total = total + dist.log_prob(dist.sample()).mean()
    simplex = D.Dirichlet(scale)
    total = total + simplex.log_prob(simplex.sample()).mean() + simplex.rsample((2,)).square().mean() + simplex.entropy().mean()
    for p, q in ((D.Gamma(scale, 1.0), D.Gamma(2.0, scale)), (simplex, D.Dirichlet(torch.ones_like(scale))), (D.Laplace(loc, scale), D.Laplace(0.0, scale)),
                 (D.Exponential(scale), D.Exponential(scale + 1)), (D.LogNormal(loc, scale), D.LogNormal(0.0, scale)), (D.Poisson(scale), D.Poisson(scale + 1))):
        total = total + D.kl_divergence(p, q).mean()
    logistic = D.LogisticNormal(loc, scale)
    return total + logistic.log_prob(logistic.rsample().detach()).mean()


def own():
    loc, scale, logits, rest = heads()
    tri = Triangular(scale)
    flow = D.TransformedDistribution(D.Normal(torch.zeros_like(loc), 1.0), [SigmoidTransform().inv.inv, AffineTransform(loc, scale)])
    composed = D.TransformedDistribution(D.Uniform(torch.tensor(0.01, device=device), 0.99).expand([16, 6]), ComposeTransform([SigmoidTransform().inv, AffineTransform(loc, scale)]))
    return tri.log_prob(tri.rsample()).mean() + flow.rsample().mean() + composed.log_prob(composed.sample()).mean()


for step in range(2):
    for part in (actor, bounded, discrete, mixture, positive, own):
        loss = part()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del loss
