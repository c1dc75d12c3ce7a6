"""Numbers in tensors of the host, in compiled code: weights, factors and alpha."""
import torch

rate, decay = torch.tensor(0.1), torch.tensor(0.9)


@torch.compile
def step(p, g, m, rate, decay):
    p.mul_(1 - rate * decay)
    m.lerp_(g, 1 - decay)
    p.add_(m / (g + decay))
    p.add_(m, alpha=-rate)
    p.add_(m / (1 - decay ** rate))


p, g, m = [torch.rand(96, 64, device="cuda") for _ in range(3)]
for _ in range(3):
    step(p, g, m, rate, decay)
    g = g * 2
