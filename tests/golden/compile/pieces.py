"""A compiled function of many small operators: pieces, rotations, reductions, losses; compiled by aot_eager."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def rotate(x):
    first, second = x.chunk(2, dim=-1)
    t = torch.arange(x.shape[2], device=x.device, dtype=torch.float32)
    angles = torch.outer(t, 1.0 / 10000 ** (torch.arange(0, first.shape[-1], device=x.device) / first.shape[-1]))
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.q, self.kv, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = (nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False), nn.Linear(2 * width, width, bias=False))

    def forward(self, x):
        b, t, c = x.shape
        h = self.norm1(x)
        k, v = self.kv(h).split(c, dim=-1)
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in (self.q(h), k, v))
        y = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, c))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(700, 256)
        self.blocks = nn.ModuleList(Block(256, 4) for _ in range(2))
        self.norm, self.head = RMSNorm(256), nn.Linear(256, 700, bias=False)

    def forward(self, tokens, targets):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x)).float()
        loss = F.cross_entropy(logits.view(-1, 700), targets.view(-1))
        return loss, logits.logsumexp(-1).square().mean()


model = Llama().cuda()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    tokens = torch.randint(0, 700, (4, 129), device="cuda")
    loss, z = compiled(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
    (loss + 1e-4 * z).backward()
    optimizer.step()
    optimizer.zero_grad()
