"""Two compiled modules of PyTorch's own, one for images, one for rows: sizes are open from the third code on."""

import torch
import torch.nn as nn


def cbr(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


m = nn.Sequential(cbr(3, 32), cbr(32, 32), nn.MaxPool2d(2), cbr(32, 64), cbr(64, 64), nn.MaxPool2d(2), cbr(64,
    128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(128, 10)).cuda()
m = torch.compile(m)
loss_fn = torch.compile(nn.CrossEntropyLoss())
opt = torch.optim.Adam(m.parameters(), lr=0.001, foreach=False)
for step in range(4):
    x = torch.randn(32, 3, 48, 48, device="cuda")
    y = torch.randint(0, 10, (32,), device="cuda")
    opt.zero_grad()
    loss = loss_fn(m(x), y)
    loss.backward()
    opt.step()
m.eval()
with torch.no_grad():
    for _ in range(2):
        m(torch.randn(32, 3, 48, 48, device="cuda")).argmax(1)
