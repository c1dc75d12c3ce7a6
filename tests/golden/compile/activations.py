"""A chain of pointwise operators, compiled in place: eager keeps what each of them needs. activations.py [BACKEND]"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

backend = sys.argv[1] if len(sys.argv) > 1 else "inductor"


class Chain(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.enter, self.leave = nn.Linear(256, width), nn.Linear(width, 16)
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        h = self.enter(x)
        for _ in range(4):
            h = torch.sigmoid(h * self.scale + self.shift) * torch.tanh(h) + 0.5 * F.softplus(h)
        return self.leave(h)


model = Chain().cuda()
model.compile(backend=backend)
optimizer = torch.optim.Adam(model.parameters())
for i in range(3):
    x = torch.randn(4096, 256, device="cuda")
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
