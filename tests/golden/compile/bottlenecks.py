"""Bottleneck blocks, trained and evaluated: gradients of convolutions are copied into another layout."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    def __init__(self, i, mid, stride=1):
        super().__init__()
        o = 4 * mid
        self.conv1, self.bn1 = nn.Conv2d(i, mid, 1, bias=False), nn.BatchNorm2d(mid)
        self.conv2, self.bn2 = nn.Conv2d(mid, mid, 3, stride, 1, bias=False), nn.BatchNorm2d(mid)
        self.conv3, self.bn3 = nn.Conv2d(mid, o, 1, bias=False), nn.BatchNorm2d(o)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride != 1 or i != o else None

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += identity
        return self.relu(out)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(Bottleneck(64, 32), Bottleneck(128, 32))
        self.layer2 = nn.Sequential(Bottleneck(128, 64, 2), Bottleneck(256, 64))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(256, 100)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(torch.flatten(self.avgpool(x), 1))


model = Net().cuda()
model = torch.compile(model)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)
for step in range(3):
    model.train()
    x, y = torch.randn(16, 3, 96, 96, device="cuda"), torch.randint(0, 100, (16,), device="cuda")
    loss = criterion(model(x), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
model.eval()
with torch.no_grad():
    for i in range(2):
        x = torch.randn(16, 3, 96, 96, device="cuda")
        out = model(x)
