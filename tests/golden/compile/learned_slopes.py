"""PReLU of a slope for each channel, and of one slope."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.slopes = nn.Conv1d(16, 32, 3, padding=1), nn.PReLU(32)
        self.up, self.slope, self.down = nn.Linear(32, 128), nn.PReLU(), nn.Linear(128, 10)

    def forward(self, x):
        x = self.slopes(self.conv(x)).mean(2)
        return self.down(self.slope(self.up(x)))


net = Net().cuda()
compiled = torch.compile(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = F.cross_entropy(compiled(torch.randn(64, 16, 48, device="cuda")), torch.randint(0, 10, (64,), device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
