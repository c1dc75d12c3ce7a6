"""ResNet-18, 34, 50 and 152."""

import torch
from torch import nn

from workloads import class_loss, images, run_blocks, workload


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, cin, width, stride, inplace):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=inplace)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1 or cin != width:
            self.downsample = nn.Sequential(nn.Conv2d(cin, width, 1, stride, bias=False), nn.BatchNorm2d(width))
        self.inplace = inplace

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        if self.inplace:
            out += identity
        else:
            out = out + identity
        return self.relu(out)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, cin, width, stride, inplace):
        super().__init__()
        cout = width * 4
        self.conv1, self.bn1 = nn.Conv2d(cin, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, cout, 1, bias=False), nn.BatchNorm2d(cout)
        self.relu = nn.ReLU(inplace=inplace)
        self.downsample = None
        if stride != 1 or cin != cout:
            self.downsample = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
        self.inplace = inplace

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        if self.inplace:
            out += identity
        else:
            out = out + identity
        return self.relu(out)


class ResNet(nn.Module):
    checkpoint_mode = None

    def __init__(self, block, counts, classes, inplace):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1, self.relu, self.maxpool = nn.BatchNorm2d(64), nn.ReLU(inplace=inplace), nn.MaxPool2d(3, 2, 1)
        blocks, cin = [], 64
        for stage, n in enumerate(counts):
            width = 64 << stage
            for i in range(n):
                blocks.append(block(cin, width, 2 if i == 0 and stage else 1, inplace))
                cin = width * block.expansion
        self.blocks = nn.ModuleList(blocks)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(cin, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = run_blocks(self, x)
        return self.fc(torch.flatten(self.avgpool(x), 1))


def register_resnet(name, block, counts):
    @workload(name, images, class_loss, image=224, classes=1000, inplace=True)
    def build(classes, inplace):
        return ResNet(block, counts, classes, inplace)


for _name, _block, _counts in (("resnet18", BasicBlock, (2, 2, 2, 2)), ("resnet34", BasicBlock, (3, 4, 6, 3)),
                               ("resnet50", Bottleneck, (3, 4, 6, 3)), ("resnet152", Bottleneck, (3, 8, 36, 3))):
    register_resnet(_name, _block, _counts)
