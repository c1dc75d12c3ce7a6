"""Attention written out: layer norm, products of matrices, a mask, softmax, dropout; compiled by aot_eager."""
import math
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        b, t, c = x.shape
        h = self.norm(x)
        q, k, v = (f(h).view(b, t, self.heads, c // self.heads).transpose(1, 2) for f in (self.query, self.key, self.value))
        weights = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        weights = torch.softmax(weights.masked_fill(~mask, float("-inf")), dim=-1)
        y = self.drop(weights) @ v
        return x + self.out(y.transpose(1, 2).reshape(b, t, c))


model = nn.Sequential(Attention(256, 4), nn.Tanh(), Attention(256, 4)).cuda()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(8, 128, 256, device="cuda")
    loss = compiled(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
