"""Rotations by complex numbers, shared by queries and keys; heads that attention splits over its keys; a loss of its own."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, LENGTH, DIM, HEADS, KV_HEADS, VOCAB = 2, 512, 256, 4, 1, 1024


def rotated(x, cis):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * cis[: x.shape[1]].view(1, x.shape[1], 1, -1)).flatten(3).type_as(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = DIM // HEADS
        self.norm = nn.RMSNorm(DIM, eps=1e-5)
        self.q, self.o = nn.Linear(DIM, DIM, bias=False), nn.Linear(DIM, DIM, bias=False)
        self.k, self.v = (nn.Linear(DIM, KV_HEADS * self.size, bias=False) for _ in range(2))

    def forward(self, x, cis):
        y = self.norm(x)
        q, k, v = (m(y).unflatten(-1, (-1, self.size)) for m in (self.q, self.k, self.v))
        q, k = rotated(q, cis), rotated(k, cis)
        k, v = (z.repeat_interleave(HEADS // KV_HEADS, dim=2) for z in (k, v))
        out = F.scaled_dot_product_attention(*(z.transpose(1, 2) for z in (q, k, v)), is_causal=True)
        return x + self.o(out.transpose(1, 2).flatten(2))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, tokens, cis):
        x = self.embedding(tokens)
        x.register_hook(lambda gradient: None)
        for block in self.blocks:
            x = block(x, cis)
        return self.head(x)


@torch.compile
def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(0, 1))


model = Net().cuda().bfloat16()
for block in model.blocks:
    block.compile()
seen = []
cis = torch.polar(torch.ones(LENGTH, 32), torch.outer(torch.arange(LENGTH).float(), torch.ones(32))).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(2):
    tokens = torch.randint(0, VOCAB, (BATCH, LENGTH + 1), device="cuda")
    logits = model(tokens[:, :-1], cis)
    logits.register_hook(lambda gradient: seen.append(gradient.new_ones(1000)))
    loss = loss_of(logits, tokens[:, 1:])
    del logits
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
