"""A ConvNeXt: layer norms over channels, depthwise convolutions, a mean over pixels."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.dw = nn.Conv2d(d, d, 7, padding=3, groups=d)
        self.norm = nn.LayerNorm(d, eps=1e-6)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.gamma = nn.Parameter(1e-6 * torch.ones(d))

    def forward(self, x):
        y = self.dw(x).permute(0, 2, 3, 1)
        y = self.gamma * self.down(F.gelu(self.up(self.norm(y))))
        return x + y.permute(0, 3, 1, 2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 4, 4)
        self.s1 = nn.Sequential(Block(64), Block(64))
        self.down = nn.Conv2d(64, 128, 2, 2)
        self.s2 = nn.Sequential(Block(128), Block(128))
        self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 100)

    def forward(self, x):
        x = self.s2(self.down(self.s1(self.stem(x))))
        return self.head(self.norm(x.mean([-2, -1])))


model = torch.compile(Net().cuda())
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    x, y = torch.randn(16, 3, 64, 64, device="cuda"), torch.randint(0, 100, (16,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
