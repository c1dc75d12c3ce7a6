"""dynamic=True: sequences of five lengths."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class Tagger(nn.Module):
    def __init__(self, v=1000, d=128, tags=17):
        super().__init__()
        self.e = nn.Embedding(v, d)
        self.conv1, self.conv2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.n = nn.LayerNorm(d)
        self.out = nn.Linear(d, tags)

    def forward(self, x):
        h = self.e(x)
        h = self.n(h + self.conv2(F.relu(self.conv1(h))))
        return self.out(h)

model = torch.compile(Tagger().cuda(), dynamic=True)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for n in [50, 73, 61, 50, 90]:
    x = torch.randint(0, 1000, (16, n), device="cuda")
    y = torch.randint(0, 17, (16, n), device="cuda")
    loss = F.cross_entropy(model(x).view(-1, 17), y.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
