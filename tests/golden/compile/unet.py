"""A U-Net in small: transposed convolutions, skips, biases"""
import torch
import torch.nn as nn
import torch.nn.functional as F

class DoubleConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                                 nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
    def forward(self, x):
        return self.net(x)

class UNet(nn.Module):
    def __init__(self, w=32, classes=4):
        super().__init__()
        self.inc = DoubleConv(3, w)
        self.d1, self.d2 = DoubleConv(w, 2 * w), DoubleConv(2 * w, 4 * w)
        self.u1 = nn.ConvTranspose2d(4 * w, 2 * w, 2, stride=2)
        self.c1 = DoubleConv(4 * w, 2 * w)
        self.u2 = nn.ConvTranspose2d(2 * w, w, 2, stride=2)
        self.c2 = DoubleConv(2 * w, w)
        self.out = nn.Conv2d(w, classes, 1)
    def forward(self, x):
        a = self.inc(x)
        b = self.d1(F.max_pool2d(a, 2))
        c = self.d2(F.max_pool2d(b, 2))
        y = self.c1(torch.cat([b, self.u1(c)], dim=1))
        y = self.c2(torch.cat([a, self.u2(y)], dim=1))
        return self.out(y)

model = UNet().cuda()
model = torch.compile(model)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    x, y = torch.randn(4, 3, 64, 64, device="cuda"), torch.randint(0, 4, (4, 64, 64), device="cuda")
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
