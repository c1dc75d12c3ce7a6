"""Two towers whose losses want a gradient of both operands."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(300, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, d)
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Tower(), Tower()
        self.scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, x, y):
        a, b = self.a(x), self.b(y)
        align = F.smooth_l1_loss(a, b)
        logits = self.scale.exp() * a @ b.t()
        t = torch.arange(x.shape[0], device=x.device)
        both = F.cross_entropy(logits, t) + F.cross_entropy(logits.t(), t)
        return both / 2 + align + 0.1 * F.huber_loss(a, b, delta=0.5)


model = torch.compile(Pair().cuda())
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    x, y = torch.randn(256, 300, device="cuda"), torch.randn(256, 300, device="cuda")
    loss = model(x, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
