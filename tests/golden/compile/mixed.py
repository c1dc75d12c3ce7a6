"""Blocks under autocast, compiled one by one by aot_eager: operators in place, a buffer that counts, lengths that change."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("scale", torch.full((width,), 0.5))
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))

    def forward(self, x, keep):
        self.calls += 1
        h = F.relu(self.up(self.norm(x)), inplace=True)
        h = self.down(h).mul_(self.scale)
        h += x
        return torch.where(keep, h, x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 192)
        self.blocks = nn.ModuleList(torch.compile(Block(192), backend="aot_eager") for _ in range(3))
        self.head = nn.Linear(192, 500)

    def forward(self, tokens, keep):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, keep)
        return self.head(x)


model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for length in (512, 768, 512):
    tokens = torch.randint(0, 500, (length,), device="cuda")
    keep = torch.rand(length, 1, device="cuda") > 0.1
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(tokens, keep), tokens)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
