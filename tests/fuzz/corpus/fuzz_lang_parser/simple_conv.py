"""A small network for 32x32 images: two convolutions, two poolings, one linear layer."""

from torch import nn


class SimpleConv(nn.Module):
    def __init__(self, image=32, classes=10, inplace=False):
        super().__init__()
        side = ((image - 2) // 2 - 2) // 2
        self.conv1, self.relu1, self.pool1 = nn.Conv2d(3, 32, 3), nn.ReLU(inplace=inplace), nn.MaxPool2d(2)
        self.conv2, self.relu2, self.pool2 = nn.Conv2d(32, 64, 3), nn.ReLU(inplace=inplace), nn.MaxPool2d(2)
        self.fc = nn.Linear(64 * side * side, classes)

    def forward(self, x):
        x = self.pool1(self.relu1(self.conv1(x)))
        x = self.pool2(self.relu2(self.conv2(x)))
        x = x.view(x.size(0), -1)
        x = self.fc(x)
        return x
