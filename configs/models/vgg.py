"""VGG with 11 to 19 layers."""

from torch import nn

from workloads import class_loss, images, workload


@workload("vgg", images, class_loss, image=224, depth=11, batchnorm=False, classes=1000, dropout=0.5)
def vgg(depth, batchnorm, classes, dropout):
    """VGG-11/13/16/19: 3x3 convolutions, in-place ReLU, max pooling, three linear layers"""
    plan = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}[depth]
    mods, cin = [], 3
    for n, width in zip(plan, (64, 128, 256, 512, 512)):
        for _ in range(n):
            mods.append(nn.Conv2d(cin, width, 3, padding=1))
            if batchnorm:
                mods.append(nn.BatchNorm2d(width))
            mods.append(nn.ReLU(inplace=True))
            cin = width
        mods.append(nn.MaxPool2d(2, 2))
    return nn.Sequential(*mods, nn.AdaptiveAvgPool2d((7, 7)), nn.Flatten(), nn.Linear(512 * 49, 4096), nn.ReLU(True),
                         nn.Dropout(dropout), nn.Linear(4096, 4096), nn.ReLU(True), nn.Dropout(dropout), nn.Linear(4096, classes))
