"""Causal convolutions along one dimension."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Causal(nn.Module):
    def __init__(self, i, o, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.c1, self.c2 = nn.Conv1d(i, o, 3, padding=self.pad, dilation=dilation), nn.Conv1d(o, o, 3, padding=self.pad, dilation=dilation)
        self.drop = nn.Dropout(0.2)
        self.short = nn.Conv1d(i, o, 1) if i != o else None

    def forward(self, x):
        y = self.drop(F.relu(self.c1(x)[..., : -self.pad]))
        y = self.drop(F.relu(self.c2(y)[..., : -self.pad]))
        return F.relu(y + (x if self.short is None else self.short(x)))


class TCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 64)
        self.net = nn.Sequential(Causal(64, 128, 1), Causal(128, 128, 2), Causal(128, 128, 4))
        self.out = nn.Linear(128, 500)

    def forward(self, x):
        return self.out(self.net(self.embed(x).transpose(1, 2)).transpose(1, 2))


model = TCN().cuda()
model.compile()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
for step in range(4):
    x = torch.randint(0, 500, (16, 128), device="cuda")
    out = model(x[:, :-1])
    loss = F.cross_entropy(out.reshape(-1, 500), x[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
