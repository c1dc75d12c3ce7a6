"""nn.MultiheadAttention in one graph."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(40, 96)
        self.att = nn.MultiheadAttention(96, 4, batch_first=True)
        self.norm = nn.LayerNorm(96)
        self.out = nn.Linear(96, 5)

    def forward(self, x):
        h = self.inp(x)
        a, _ = self.att(h, h, h, need_weights=False)
        return self.out(self.norm(h + a).mean(dim=1))


model = torch.compile(Net().cuda(), fullgraph=True)
opt = torch.optim.AdamW(model.parameters())
for step in range(3):
    x = torch.randn(16, 50, 40, device="cuda")
    y = torch.randint(0, 5, (16,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
