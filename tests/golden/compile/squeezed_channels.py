"""Channels that are squeezed to one pixel, channels last, under fp16."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SE(nn.Module):
    def __init__(self, c, r=4):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(c, c // r, 1), nn.Conv2d(c // r, c, 1)

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        return x * torch.sigmoid(self.fc2(F.silu(self.fc1(s))))


class MBConv(nn.Module):
    def __init__(self, i, o, stride=1, expand=4):
        super().__init__()
        m = i * expand
        self.use = stride == 1 and i == o
        self.net = nn.Sequential(
            nn.Conv2d(i, m, 1, bias=False), nn.BatchNorm2d(m), nn.SiLU(inplace=True),
            nn.Conv2d(m, m, 3, stride, 1, groups=m, bias=False), nn.BatchNorm2d(m), nn.SiLU(inplace=True),
            SE(m), nn.Conv2d(m, o, 1, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        y = self.net(x)
        return x + y if self.use else y


class Net(nn.Module):
    def __init__(self, classes=40):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 24, 3, 2, 1, bias=False), nn.BatchNorm2d(24), nn.SiLU(inplace=True))
        self.body = nn.Sequential(MBConv(24, 40, 2), MBConv(40, 64, 2))
        last = nn.Conv2d(64, 256, 1, bias=False), nn.BatchNorm2d(256), nn.SiLU(inplace=True)
        self.head = nn.Sequential(
            *last, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(256, classes)
        )

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


model = Net().cuda()
net = torch.compile(model)
opt = torch.optim.RMSprop(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-5)
scaler = torch.amp.GradScaler("cuda")
for step in range(1):
    x, y = torch.randn(16, 3, 96, 96, device="cuda"), torch.randint(0, 40, (16,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
    opt.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    scaler.step(opt)
    scaler.update()
