"""Norms that count their batches, and a path that is dropped: the counts decide which order needs the least."""

import torch
from torch import nn


class Drop(nn.Module):
    def __init__(self, inner, p):
        super().__init__()
        self.inner, self.p = inner, p

    def forward(self, x):
        h = self.inner(x)
        if self.training:
            keep = 1 - self.p
            h = h.div(keep) * (torch.rand(x.shape[0], 1, 1, 1, device=x.device, dtype=x.dtype) + keep).floor_()
        return x + h


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = Drop(nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)), 0.2)
        self.wide = nn.Sequential(
            nn.ELU(inplace=True),
            nn.Conv2d(3, 12, 1, bias=False),
            nn.BatchNorm2d(12),
            nn.Hardswish(inplace=True),
            nn.Conv2d(12, 24, 1, bias=False),
            nn.BatchNorm2d(24),
            nn.Sigmoid(),
        )
        self.pool, self.head = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(24, 1000)

    def forward(self, x):
        return self.head(self.pool(self.wide(self.drop(x))).flatten(1))


torch.manual_seed(0)
model = torch.compile(Net().bfloat16().to("cuda"))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for _ in range(2):
    x, y = torch.randn(4, 3, 48, 48, device="cuda").bfloat16(), torch.randint(1000, (4,), device="cuda")
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
