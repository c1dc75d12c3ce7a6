"""Each block compiled by itself, bf16: rotary positions, RMS norms, gated layers; the loss eager. llama_blocks.py [BACKEND]"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

backend = sys.argv[1] if len(sys.argv) > 1 else "inductor"


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(x) * self.weight


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = Norm(width), Norm(width)
        self.q, self.k, self.v, self.o = [nn.Linear(width, width, bias=False) for _ in range(4)]
        self.gate, self.up = [nn.Linear(width, 3 * width, bias=False) for _ in range(2)]
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x, cos, sin):
        b, t, c = x.shape
        h = self.before(x)
        q, k, v = [m(h).view(b, t, self.heads, c // self.heads).transpose(1, 2) for m in (self.q, self.k, self.v)]
        y = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, c))
        h = self.between(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self, vocab=2048, width=256, heads=4, layers=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = Norm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, tokens, cos, sin):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, cos, sin)
        return self.head(self.norm(x))


model = Llama().cuda().bfloat16()
for i, block in enumerate(model.blocks):
    model.blocks[i] = torch.compile(block, backend=backend)
cos, sin = torch.randn(256, 64, device="cuda").bfloat16(), torch.randn(256, 64, device="cuda").bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(3):
    x = torch.randint(0, 2048, (8, 256), device="cuda")
    loss = F.cross_entropy(model(x, cos, sin).flatten(0, 1).float(), x.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
