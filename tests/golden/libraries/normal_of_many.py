"""A normal distribution of several dimensions by its triangle: drawn, asked and trained."""
import torch
torch.distributions.Distribution.set_default_validate_args(False)
from torch.distributions import MultivariateNormal
x = torch.randn(6, 4, device="cuda", requires_grad=True)
L = torch.eye(4, device="cuda").expand(6, 4, 4) + 0
d = MultivariateNormal(x, scale_tril=L)
s = d.rsample((3,))
lp = d.log_prob(s.detach())
(lp.mean() + d.entropy().mean()).backward()
one = MultivariateNormal(x[0], scale_tril=L[0])
one.log_prob(one.sample((5,))).sum().backward()
print(one.variance.shape)
