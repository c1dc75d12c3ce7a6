"""Messages along the edges of a graph, added up where they arrive."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(32, 64), nn.Linear(64, 7)

    def spread(self, h, src, dst):
        return h + torch.zeros_like(h).index_add(0, dst, h[src])

    def forward(self, x, edges):
        x = F.relu(self.spread(self.l1(x), edges[0], edges[1]))
        return self.spread(self.l2(x), edges[0], edges[1]).flip(1)


model = torch.compile(Net().cuda())
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    x, edges = torch.randn(500, 32, device="cuda"), torch.randint(0, 500, (2, 3000), device="cuda")
    y = torch.randint(0, 7, (500,), device="cuda")
    loss = F.cross_entropy(model(x, edges), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
