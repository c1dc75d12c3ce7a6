"""A number raised to a tensor keeps its exponent for backward, though no gradient of it takes the exponent."""
import torch

y = torch.randn(300, device="cuda", requires_grad=True)
z = 2 ** (y * 3) + 3.0 ** (y - 1) + torch.pow(5, y.abs())
z.sum().backward()
x = torch.randn(1000, 1000, device="cuda", requires_grad=True)
for _ in range(2):
    (2 ** (x * 0.5) * x).sum().backward()
