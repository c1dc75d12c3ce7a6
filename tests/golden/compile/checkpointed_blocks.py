"""Blocks that are compiled one by one, each under a checkpoint: what was kept goes in the order in which it was kept."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.first, self.heads = nn.RMSNorm(size), heads
        self.qkv, self.out = nn.Linear(size, 3 * size, bias=False), nn.Linear(size, size, bias=False)
        self.second = nn.RMSNorm(size)
        self.up, self.down = nn.Linear(size, 4 * size, bias=False), nn.Linear(4 * size, size, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.first(x)).view(b, t, 3, self.heads, c // self.heads).unbind(2)
        q, k = F.rms_norm(q, (q.size(-1),)), F.rms_norm(k, (k.size(-1),))
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view_as(x))
        return x + self.down(F.relu(self.up(self.second(x))).square())


class Net(nn.Module):
    def __init__(self, words=5000, size=384, blocks=4):
        super().__init__()
        self.embedding = nn.Embedding(words, size)
        self.blocks = nn.ModuleList(Block(size, 6) for _ in range(blocks))
        self.norm, self.head = nn.RMSNorm(size), nn.Linear(size, words, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(self.norm(x))


model = Net().cuda().to(torch.bfloat16)
for i, block in enumerate(model.blocks):
    model.blocks[i] = torch.compile(block)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
for _ in range(3):
    tokens = torch.randint(0, 5000, (4, 257), device="cuda")
    logits = model(tokens[:, :-1]).float()
    logits = 15 * torch.tanh(logits / 15)
    loss = F.cross_entropy(logits.view(-1, 5000), tokens[:, 1:].reshape(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
