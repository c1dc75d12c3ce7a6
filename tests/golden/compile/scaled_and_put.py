"""A sum that scales a product, though its operand is one with a bias"""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 96), nn.Linear(96, 64)
        self.a, self.b = nn.Parameter(torch.randn(64, 8)), nn.Parameter(torch.randn(8, 64))

    def forward(self, x):
        h = self.second(torch.relu(self.first(x)))
        h = torch.add(h, x @ self.a @ self.b, alpha=0.5)
        rows = torch.select_scatter(h.view(-1, 4, 64), h.view(-1, 4, 64).mean(1), 1, 2)
        return rows.flatten(0, 1) - torch.sub(x, h, alpha=2)


net = Net().cuda()
compiled = torch.compile(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    compiled(torch.randn(128, 64, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
