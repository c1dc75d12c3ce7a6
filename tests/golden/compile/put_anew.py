"""A row and columns of a tensor that are put anew by select_scatter and slice_scatter."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.part = nn.Linear(64, 96), nn.Linear(96, 64), nn.Linear(64, 16)

    def forward(self, x):
        h = torch.relu(self.first(x))
        rows = torch.select_scatter(h.view(-1, 4, 96), x.view(-1, 4, 64).mean(1).repeat(1, 2)[:, :96], 1, 2)
        h = self.second(rows.flatten(0, 1))
        return torch.slice_scatter(torch.tanh(h), self.part(x), 1, 32, 48)


net = Net().cuda()
compiled = torch.compile(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    compiled(torch.randn(128, 64, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
