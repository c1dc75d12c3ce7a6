"""MobileNetV2."""

import torch
import torch.nn.functional as F
from torch import nn

from workloads import class_loss, images, run_blocks, workload


class InvertedResidual(nn.Module):
    def __init__(self, cin, cout, stride, expand):
        super().__init__()
        hidden = cin * expand
        self.skip = stride == 1 and cin == cout
        mods = []
        if expand != 1:
            mods += [nn.Conv2d(cin, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True)]
        mods += [nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True),
                 nn.Conv2d(hidden, cout, 1, bias=False), nn.BatchNorm2d(cout)]
        self.conv = nn.Sequential(*mods)

    def forward(self, x):
        return x + self.conv(x) if self.skip else self.conv(x)


class MobileNetV2(nn.Module):
    checkpoint_mode = None

    def __init__(self, classes, dropout):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6(inplace=True))
        blocks, cin = [], 32
        for t, c, n, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for i in range(n):
                blocks.append(InvertedResidual(cin, c, s if i == 0 else 1, t))
                cin = c
        self.blocks = nn.ModuleList(blocks)
        self.last = nn.Sequential(nn.Conv2d(cin, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(inplace=True))
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, classes))

    def forward(self, x):
        x = self.last(run_blocks(self, self.stem(x)))
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return self.classifier(torch.flatten(x, 1))


@workload("mobilenet_v2", images, class_loss, image=224, classes=1000, dropout=0.2)
def mobilenet_v2(classes, dropout):
    return MobileNetV2(classes, dropout)
