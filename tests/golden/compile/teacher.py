"""A student and the mean of its weights, which is evaluated: group norms."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

import copy


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.GroupNorm(8, 32), nn.SiLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.GroupNorm(8, 64), nn.SiLU(), nn.Conv2d(64, 128, 3, 2, 1))
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.head(self.feat(x))


model = Net().cuda()
ema = copy.deepcopy(model).eval().requires_grad_(False)
compiled, teacher = torch.compile(model), torch.compile(ema)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(32, 3, 64, 64, device="cuda")
    with torch.no_grad():
        target = teacher(x)
    loss = F.smooth_l1_loss(compiled(x + 0.1 * torch.randn_like(x)), target)
    loss.backward()
    opt.step()
    opt.zero_grad()
    with torch.no_grad():
        for p, q in zip(ema.parameters(), model.parameters()):
            p.lerp_(q, 0.01)
