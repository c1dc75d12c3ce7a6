"""A loss of one part of the tokens at a time, compiled; timesteps whose frequencies are made on the host."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def frequencies(t, size):
    half = size // 2
    steps = torch.exp(-math.log(10000) * torch.arange(start=0, end=half, dtype=torch.float32) / half).to(device=t.device)
    angles = t[:, None].float() * steps[None]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


class Net(nn.Module):
    def __init__(self, words=2000, size=256):
        super().__init__()
        self.embedding = nn.Embedding(words, size)
        self.steps = nn.Sequential(nn.Linear(size, size), nn.SiLU(), nn.Linear(size, size))
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, tokens, t):
        x = self.embedding(tokens) + self.steps(frequencies(t, 256))[:, None]
        return x + self.down(F.gelu(self.up(x)))


@torch.compile
def part_of_loss(x, words, labels):
    return F.cross_entropy((x @ words.t()).float(), labels, reduction="sum")


model = Net().cuda()
model.forward = torch.compile(model.forward)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
for _ in range(2):
    tokens = torch.randint(0, 2000, (4, 257), device="cuda")
    t = torch.randint(0, 1000, (4,), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        x = model(tokens[:, :-1], t).flatten(0, 1)
        labels = tokens[:, 1:].flatten()
        pairs = zip(x.chunk(4), labels.chunk(4))
        loss = sum(part_of_loss(a, model.embedding.weight, b) for a, b in pairs) / labels.numel()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
