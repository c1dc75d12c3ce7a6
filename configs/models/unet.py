"""U-Net."""

import torch
from torch import nn

from workloads import class_loss, workload


def segmentation(batch, image, seq, a):
    return [torch.zeros(batch, 3, image, image), torch.zeros(batch, image, image, dtype=torch.long)]


def double_conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
                         nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, width, depth, classes, bilinear):
        super().__init__()
        self.inc = double_conv(3, width)
        self.down = nn.ModuleList(nn.Sequential(nn.MaxPool2d(2), double_conv(width << i, width << (i + 1))) for i in range(depth))
        self.up, self.merge = nn.ModuleList(), nn.ModuleList()
        for i in reversed(range(depth)):
            c = width << i
            self.up.append(nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), nn.Conv2d(2 * c, c, 1)) if bilinear
                           else nn.ConvTranspose2d(2 * c, c, 2, stride=2))
            self.merge.append(double_conv(2 * c, c))
        self.out = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = [self.inc(x)]
        for down in self.down:
            skips.append(down(skips[-1]))
        x = skips.pop()
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat([skips.pop(), up(x)], dim=1))
        return self.out(x)


@workload("unet", segmentation, class_loss, image=128, width=64, depth=4, classes=2, bilinear=False)
def unet(width, depth, classes, bilinear):
    return UNet(width, depth, classes, bilinear)
