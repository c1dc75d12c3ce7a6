"""Small convolutional networks, of the articles."""

import torch
from torch import nn

from workloads import class_loss, images, run_blocks, workload


class SimpleConv(nn.Module):
    """conv 32, pool, conv 64, pool, linear; 32x32 images give 64*6*6 features (the article says 5*5, which fails)"""

    def __init__(self, image, inplace):
        super().__init__()
        side = ((image - 2) // 2 - 2) // 2
        self.conv1, self.relu1, self.pool1 = nn.Conv2d(3, 32, 3), nn.ReLU(inplace=inplace), nn.MaxPool2d(2)
        self.conv2, self.relu2, self.pool2 = nn.Conv2d(32, 64, 3), nn.ReLU(inplace=inplace), nn.MaxPool2d(2)
        self.fc = nn.Linear(64 * side * side, 10)

    def forward(self, x):
        x = self.pool1(self.relu1(self.conv1(x)))
        x = self.pool2(self.relu2(self.conv2(x)))
        x = x.view(x.size(0), -1)
        x = self.fc(x)
        return x


@workload("simple_conv", images, class_loss, image=32, side=32, inplace=False)
def simple_conv(side, inplace):
    return SimpleConv(side, inplace)


class SmallNetwork(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.filters = filters
        self.conv1 = nn.Conv2d(3, filters, kernel_size=3)
        self.fc1 = nn.Linear(filters * 30 * 30, 128)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = x.view(-1, self.filters * 30 * 30)
        x = self.fc1(x)
        return x


@workload("small_network", images, class_loss, image=32, filters=16)
def small_network(filters):
    """filters=16: the article's SmallNetwork; filters=64: its LargerConvNetwork"""
    return SmallNetwork(filters)


class SeparableNet(nn.Module):
    """a stem, then depthwise + pointwise pairs with batch norm"""

    checkpoint_mode = None

    def __init__(self, width, layers, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.blocks = nn.ModuleList(nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()) for _ in range(layers))
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(width, classes)

    def forward(self, x):
        x = run_blocks(self, self.stem(x))
        return self.fc(torch.flatten(self.pool(x), 1))


@workload("separable", images, class_loss, image=64, width=256, layers=4, classes=10)
def separable(width, layers, classes):
    return SeparableNet(width, layers, classes)
