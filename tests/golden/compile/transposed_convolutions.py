"""A U-Net whose way up is transposed convolutions, channels last, under autocast: their biases."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                                 nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.inc = DoubleConv(3, 32)
        self.down = nn.ModuleList([DoubleConv(32, 64), DoubleConv(64, 128), DoubleConv(128, 256)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(256, 128, 2, 2), nn.ConvTranspose2d(128, 64, 2, 2), nn.ConvTranspose2d(64, 32, 2, 2)])
        self.conv = nn.ModuleList([DoubleConv(256, 128), DoubleConv(128, 64), DoubleConv(64, 32)])
        self.outc = nn.Conv2d(32, classes, 1)

    def forward(self, x):
        skips = [self.inc(x)]
        for d in self.down:
            skips.append(d(F.max_pool2d(skips[-1], 2)))
        x = skips.pop()
        for u, c in zip(self.up, self.conv):
            x = c(torch.cat([skips.pop(), u(x)], dim=1))
        return self.outc(x)


def dice(p, t):
    p = F.softmax(p, dim=1)
    t = F.one_hot(t, 2).permute(0, 3, 1, 2).float()
    inter = (p * t).sum(dim=(2, 3))
    return 1 - (2 * inter / (p.sum(dim=(2, 3)) + t.sum(dim=(2, 3)) + 1e-6)).mean()


model = UNet().cuda().to(memory_format=torch.channels_last)
model = torch.compile(model)
opt = torch.optim.RMSprop(model.parameters(), lr=1e-5, weight_decay=1e-8, momentum=0.9)
for step in range(3):
    x = torch.randn(4, 3, 96, 96, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(0, 2, (4, 96, 96), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        pred = model(x)
        loss = F.cross_entropy(pred, y) + dice(pred.float(), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
