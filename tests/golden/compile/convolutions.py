"""Convolutions with batch norms under bf16 autocast, compiled with the loss outside. convolutions.py [BACKEND]"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

backend = sys.argv[1] if len(sys.argv) > 1 else "inductor"


def stage(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, 2, 1, bias=False), nn.BatchNorm2d(o), nn.SiLU(), nn.Conv2d(o, o, 3, 1, 1),
                         nn.GroupNorm(8, o), nn.GELU())  # fmt: skip


model = nn.Sequential(stage(3, 32), stage(32, 64), stage(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                      nn.Linear(128, 20)).cuda()  # fmt: skip
compiled = torch.compile(model, backend=backend)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    x, y = torch.randn(16, 3, 96, 96, device="cuda"), torch.randint(0, 20, (16,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(compiled(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
