"""Two towers and the loss of pairs; normalized features, positions that are counted."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, i, d=128):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(i, 256), nn.LayerNorm(256), nn.GELU(), nn.Linear(256, d))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Tower(300), Tower(200)
        self.scale = nn.Parameter(torch.ones([]) * math.log(1 / 0.07))

    def forward(self, x, y):
        a, b = self.a(x), self.b(y)
        logits = self.scale.exp() * a @ b.t()
        t = torch.arange(logits.shape[0], device=logits.device)
        return (F.cross_entropy(logits, t) + F.cross_entropy(logits.t(), t)) / 2


model = Clip().cuda()
step_fn = torch.compile(model, fullgraph=True)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    x, y = torch.randn(256, 300, device="cuda"), torch.randn(256, 200, device="cuda")
    loss = step_fn(x, y)
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
