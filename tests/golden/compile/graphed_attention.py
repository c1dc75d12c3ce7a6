"""mode="reduce-overhead": a small transformer classifier, trained."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.n1 = nn.LayerNorm(d)
        self.n2 = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)
        self.m = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.n1(x)).reshape(B, T, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        x = x + self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, C))
        return x + self.m(self.n2(x))


class Net(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.e = nn.Embedding(1000, d)
        self.b = nn.Sequential(Block(d, 4), Block(d, 4))
        self.n = nn.LayerNorm(d)
        self.h = nn.Linear(d, 5)

    def forward(self, x):
        return self.h(self.n(self.b(self.e(x))).mean(1))


m = Net().cuda()
c = torch.compile(m, mode="reduce-overhead")
opt = torch.optim.AdamW(m.parameters(), lr=0.001)
for _ in range(6):
    x = torch.randint(0, 1000, (16, 128), device="cuda")
    y = torch.randint(0, 5, (16,), device="cuda")
    loss = F.cross_entropy(c(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
