"""DenseNet."""

import torch
from torch import nn

from workloads import class_loss, images, workload


class DenseLayer(nn.Module):
    def __init__(self, cin, growth):
        super().__init__()
        self.norm1, self.relu1, self.conv1 = nn.BatchNorm2d(cin), nn.ReLU(inplace=True), nn.Conv2d(cin, 4 * growth, 1, bias=False)
        self.norm2, self.relu2, self.conv2 = nn.BatchNorm2d(4 * growth), nn.ReLU(inplace=True), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, features):
        x = torch.cat(features, 1)
        x = self.conv1(self.relu1(self.norm1(x)))
        return self.conv2(self.relu2(self.norm2(x)))


class DenseBlock(nn.Module):
    def __init__(self, cin, layers, growth):
        super().__init__()
        self.layers = nn.ModuleList(DenseLayer(cin + i * growth, growth) for i in range(layers))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(features))
        return torch.cat(features, 1)


@workload("densenet", images, class_loss, image=224, growth=32, plan="6,12,24,16", classes=1000)
def densenet(growth, plan, classes):
    """DenseNet-121 by default: every layer reads the concatenation of all before it"""
    mods, c = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    counts = [int(n) for n in str(plan).split(",")]
    for i, n in enumerate(counts):
        mods.append(DenseBlock(c, n, growth))
        c += n * growth
        if i + 1 < len(counts):
            mods += [nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.Conv2d(c, c // 2, 1, bias=False), nn.AvgPool2d(2, 2)]
            c //= 2
    return nn.Sequential(*mods, nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, classes))
