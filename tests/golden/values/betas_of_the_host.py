# Beta and Dirichlet numbers of the host: gamma variates in double precision, from the host's generator.
import torch
from torch.distributions import Beta, Dirichlet

for alpha in (0.2, 0.5, 1.0, 4.0):
    torch.manual_seed(7)
    beta = Beta(torch.tensor([alpha]), torch.tensor([alpha]))
    print(alpha, [float(beta.sample(())) for _ in range(4)], torch.rand(2).tolist(), torch.randn(1).item())
torch.manual_seed(1)
print(Beta(torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([3.0, 0.5], dtype=torch.float64)).sample((2,)).tolist())
print(Dirichlet(torch.tensor([[0.5, 1.0, 2.0], [3.0, 3.0, 0.1]])).sample().tolist())
torch.randn(1, dtype=torch.float64)
print(Dirichlet(torch.tensor([0.3, 0.3])).sample((3,)).tolist(), torch.randint(100, (3,)).tolist())
