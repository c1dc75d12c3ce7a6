# What a region holds besides its tensors goes after them.
# A region's arguments: tensors, a tuple of tensors, a dictionary of them. Which goes first when the region's backward is done?
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x, shift, rotary, more=None):
        cos, sin = rotary
        return self.b(torch.tanh(self.a(x) * cos + sin * more["scale"] + shift))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.inside = nn.Linear(64, 64)

    def forward(self, x):
        shift = self.inside(x)
        for block in self.blocks:
            rotary = (torch.cos(x[:2]).repeat(4, 1), torch.sin(x[:4]).repeat(2, 1))
            x = checkpoint(block, x, shift, rotary, {"scale": torch.ones(64, device="cuda")}, use_reentrant=False)
        return x


net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    net(torch.randn(8, 64, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
