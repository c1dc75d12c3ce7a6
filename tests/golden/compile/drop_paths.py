"""A vision transformer whose branches are dropped by draws in place."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0.0 or not self.training:
            return x
        keep = 1 - self.p
        mask = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(keep)
        return x * mask / keep


class Block(nn.Module):
    def __init__(self, d, h, dp):
        super().__init__()
        self.h = h
        self.n1 = nn.LayerNorm(d, eps=1e-06)
        self.n2 = nn.LayerNorm(d, eps=1e-06)
        self.qkv = nn.Linear(d, 3 * d)
        self.p = nn.Linear(d, d)
        self.m = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.g1 = nn.Parameter(1e-05 * torch.ones(d))
        self.g2 = nn.Parameter(1e-05 * torch.ones(d))
        self.dp = DropPath(dp)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(self.n1(x)).reshape(B, N, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4).unbind(0)
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, C)
        x = x + self.dp(self.g1 * self.p(a))
        return x + self.dp(self.g2 * self.m(self.n2(x)))


class ViT(nn.Module):
    def __init__(self, d=192, L=3, h=3, n=100):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 16, 16)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.pos = nn.Parameter(torch.zeros(1, 197, d))
        self.blocks = nn.Sequential(*[Block(d, h, 0.05 * i) for i in range(L)])
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, n)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
        return self.head(self.norm(self.blocks(x))[:, 0])


m = torch.compile(ViT().cuda())
opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, weight_decay=0.0001)
crit = nn.CrossEntropyLoss(label_smoothing=0.1)
for _ in range(4):
    x = torch.randn(16, 3, 224, 224, device="cuda")
    y = torch.randint(0, 100, (16,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = crit(m(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
