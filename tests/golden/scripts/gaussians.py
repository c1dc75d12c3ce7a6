"""Gaussians of several dimensions by each of their matrices, and Cauchy's distribution."""
import torch
import torch.distributions as D

D.Distribution.set_default_validate_args(False)
torch.manual_seed(0)
mean = torch.randn(16, 4, device="cuda", requires_grad=True)
factor = torch.randn(16, 4, 4, device="cuda", requires_grad=True)
single = torch.eye(4, device="cuda", requires_grad=True)
optimizer = torch.optim.Adam([mean, factor, single], lr=1e-3)


def batched():
    covariance = factor @ factor.mT + torch.eye(4, device="cuda")
    dist = D.MultivariateNormal(mean, covariance)
    value = dist.rsample((3,))
    return dist.log_prob(value).mean() + dist.entropy().mean() + dist.variance.sum() + dist.scale_tril.sum()


def shared():
    dist = D.MultivariateNormal(mean, scale_tril=torch.tril(single))
    value = dist.rsample()
    other = D.MultivariateNormal(mean.detach() + 1, scale_tril=torch.tril(factor))
    wide = D.MultivariateNormal(mean[0], scale_tril=torch.tril(single)).expand((5, 16))
    part = dist.log_prob(value).mean() + dist.covariance_matrix.sum() + wide.log_prob(wide.sample()).mean()
    return part + D.kl_divergence(dist, other).mean()


def cauchy():
    dist = D.Cauchy(mean, factor[:, 0].exp())
    value = dist.rsample()
    return dist.log_prob(value.detach()).mean() + dist.cdf(value).mean() + dist.icdf(value.sigmoid()).mean() + dist.entropy().mean()


for _ in range(2):
    for part in (batched, shared, cauchy):
        loss = part()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del loss
factor = torch.linalg.cholesky_ex(torch.eye(6, device="cuda").expand(7, 6, 6))
print(type(factor).__name__, factor.L.shape, factor.info.shape)
