"""Networks that are evaluated under autocast: what several layers read is cast for each of them."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.Sigmoid(), nn.Linear(2 * width, width))

    def forward(self, x):
        h = self.norm(x)
        return x + self.query(h) * self.key(h).sigmoid() + self.feed(h)


torch.manual_seed(0)
model = nn.Sequential(Block(96), Block(96), nn.LayerNorm(96), nn.Linear(96, 32)).to("cuda").eval()
model = torch.compile(model)
for _ in range(2):
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        scores = model(torch.randn(64, 96, device="cuda"))
