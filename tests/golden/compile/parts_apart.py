"""Results that are taken apart: frozen keys, bags, losses of two that learn, the greatest."""

import torch
import torch.nn.functional as F


class Lowered(torch.nn.Module):
    """frozen keys between queries and values that learn, behind a drop of what needs no gradient"""

    def __init__(self, width=128, heads=4):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (torch.nn.Linear(width, width, bias=False) for _ in range(3))
        self.k.requires_grad_(False)

    def forward(self, x):
        b, n, d = x.shape
        y = F.dropout(x, 0.1)
        pairs = (self.q, y), (self.k, x), (self.v, y)
        q, k, v = (f(z).view(b, n, self.heads, -1).transpose(1, 2) for f, z in pairs)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, d)


class Bags(torch.nn.Module):
    def __init__(self):
        super().__init__()
        sizes = (900, "sum"), (500, "mean"), (300, "sum")
        self.bags = torch.nn.ModuleList(torch.nn.EmbeddingBag(n, 32, mode=m) for n, m in sizes)

    def forward(self, rows):
        return torch.cat([bag(r) for bag, r in zip(self.bags, rows)], dim=1)


@torch.compile
def of_both(a, b):
    return F.mse_loss(a, b) + F.smooth_l1_loss(a, b * 2) + F.huber_loss(b, a)


@torch.compile
def below(x):
    return (x - x.max()).exp().sum(-1)


lowered, bags = Lowered().cuda().bfloat16(), Bags().cuda()
attend, count = torch.compile(lowered), torch.compile(bags)
for step in range(2):
    attend(torch.randn(4, 64, 128, device="cuda", dtype=torch.bfloat16)).sum().backward()
    count([torch.randint(0, 300, (64, 5), device="cuda") for _ in range(3)]).sum().backward()
    a, b = (torch.randn(64, 100, device="cuda", requires_grad=True) for _ in range(2))
    of_both(a, b).backward()
    x = torch.randn(200, 300, device="cuda", requires_grad=True)
    below(x).sum().backward()
