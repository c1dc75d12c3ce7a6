"""A U-Net with transposed convolutions, skips, instance norm, dice + BCE loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def dbl(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.1),
        nn.Conv2d(o, o, 3, padding=1), nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.1))


class UNet(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.d1 = dbl(1, c)
        self.d2 = dbl(c, 2 * c)
        self.d3 = dbl(2 * c, 4 * c)
        self.u2 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2)
        self.e2 = dbl(4 * c, 2 * c)
        self.u1 = nn.ConvTranspose2d(2 * c, c, 2, 2)
        self.e1 = dbl(2 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        y = self.e2(torch.cat([self.u2(c), b], 1))
        y = self.e1(torch.cat([self.u1(y), a], 1))
        return self.out(y)


def dice(p, t):
    p = torch.sigmoid(p)
    i = (p * t).sum((1, 2, 3))
    return 1 - ((2 * i + 1) / (p.sum((1, 2, 3)) + t.sum((1, 2, 3)) + 1)).mean()


m = torch.compile(UNet().cuda())
opt = torch.optim.AdamW(m.parameters(), lr=0.001)
for _ in range(3):
    x = torch.randn(4, 1, 96, 96, device="cuda")
    t = (torch.rand(4, 1, 96, 96, device="cuda") > 0.5).float()
    p = m(x)
    loss = F.binary_cross_entropy_with_logits(p, t) + dice(p, t)
    loss.backward()
    opt.step()
    opt.zero_grad()
