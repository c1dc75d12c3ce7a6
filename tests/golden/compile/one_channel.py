"""A U-Net whose last convolution has one channel, with its loss compiled by itself: of equal strides the last is the innermost."""

import torch, torch.nn.functional as F
from torch import nn

class Up(nn.Module):
    def __init__(self, i, s, o):
        super().__init__()
        self.t = nn.ConvTranspose2d(i, o, 2, 2)
        self.c = nn.Sequential(nn.Conv2d(o + s, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
    def forward(self, x, skip):
        return self.c(torch.cat([skip, self.t(x)], 1))
class UNet(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        def down(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True), nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        self.d1, self.d2, self.d3 = down(3, c), down(c, 2 * c), down(2 * c, 4 * c)
        self.u2, self.u1 = Up(4 * c, 2 * c, 2 * c), Up(2 * c, c, c)
        self.out = nn.Conv2d(c, 1, 1)
        self.pool = nn.MaxPool2d(2)
    def forward(self, x):
        with torch.autocast("cuda", torch.bfloat16):
            a = self.d1(x)
            b = self.d2(self.pool(a))
            h = self.d3(self.pool(b))
            return self.out(self.u1(self.u2(h, b), a)).float()

def dice_bce(logits, y):
    p = torch.sigmoid(logits)
    inter = (p * y).sum((1, 2, 3))
    dice = 1 - (2 * inter + 1) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)
    return F.binary_cross_entropy_with_logits(logits, y) + dice.mean()

model = torch.compile(UNet().cuda().to(memory_format=torch.channels_last))
loss_fn = torch.compile(dice_bce)
opt = torch.optim.RMSprop(model.parameters(), lr=1e-4, momentum=0.9)
for _ in range(3):
    x = torch.randn(4, 3, 128, 128, device="cuda").contiguous(memory_format=torch.channels_last)
    y = (torch.rand(4, 1, 128, 128, device="cuda") > 0.5).float()
    loss = loss_fn(model(x), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
