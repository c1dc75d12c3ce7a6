"""Tensors that are joined, compiled by inductor: two that are summed up, nine at once, one in a list by itself."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(40, 64)
        self.heads = nn.ModuleList(nn.Linear(64, 24) for _ in range(9))
        self.a = nn.Linear(216, 72)
        self.norm = nn.BatchNorm1d(72)
        self.out = nn.Linear(144, 10)

    def forward(self, x):
        x = F.relu(self.stem(torch.cat([x], -1)))
        x = torch.cat([head(x) for head in self.heads], -1)
        x = torch.stack([torch.tanh(x[:, :72]), self.a(x)]).sum(0)
        x = torch.cat([self.norm(x), x.sigmoid()], dim=1)
        return self.out(x)


model = torch.compile(Net().cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    x, y = torch.randn(512, 40, device="cuda"), torch.randint(0, 10, (512,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
