"""Results as long as numbers say: the graph ends there, and another begins behind them."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(128, 512)
        self.down = nn.Linear(512, 128)

    def forward(self, x, marked):
        hidden = F.gelu(self.up(x))
        rows = torch.nonzero(marked)
        return F.gelu(self.down(hidden) * 2.0 + rows.shape[0])


model = torch.compile(Net().cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
marked = torch.zeros(1024, dtype=torch.bool, device="cuda")
for _ in range(3):
    loss = model(torch.randn(1024, 128, device="cuda"), marked).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
