# What is drawn decides sizes: crops of a text, lengths of sequences, samples kept, layers left out, how often a loop runs.
import math

import torch
from torch import nn

torch.manual_seed(1234)
data = torch.arange(10_000)
block = 64
ix = torch.randint(len(data) - block, (6,))
x = torch.stack([data[i:i + block] for i in ix])
y = torch.stack([data[i + 1:i + 1 + block] for i in ix])
print(ix.tolist(), x.shape, (y - x).unique().tolist(), x[:, 0].tolist() == ix.tolist())

# Sequences of drawn lengths, sorted and cut into buckets; each is padded to its longest.
lengths = torch.empty(24).uniform_(4, 40).long()
order = torch.argsort(lengths)
for bucket in order.split(8):
    chosen = lengths[bucket]
    batch = nn.utils.rnn.pad_sequence([torch.ones(int(n)) for n in chosen], batch_first=True)
    print(tuple(batch.shape), int(batch.sum()), chosen.tolist())
kept = torch.rand(100) < 0.3
print(int(kept.sum()), torch.zeros(100, 5)[kept].shape, kept.nonzero().flatten()[:6].tolist(), torch.masked_select(torch.arange(100), kept)[-3:].tolist())


class Sometimes(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(10))

    def forward(self, x):
        used = []
        for i, layer in enumerate(self.layers):
            if torch.rand([]) >= 0.4:
                used.append(i)
                x = layer(x)
        return x, used


model = Sometimes()
for _ in range(3):
    print(model(torch.zeros(2, 4))[1])

# Random erasing and resized crops, as pictures' transforms draw them.
area = 224 * 224
for _ in range(3):
    target = area * torch.empty(1).uniform_(0.08, 1.0).item()
    ratio = torch.exp(torch.empty(1).uniform_(math.log(3 / 4), math.log(4 / 3))).item()
    w, h = int(round(math.sqrt(target * ratio))), int(round(math.sqrt(target / ratio)))
    i = torch.randint(0, 224 - h + 1, size=(1,)).item() if h <= 224 else -1
    print((w, h), i)
tries = 0
while torch.randn(1).item() < 1.0:
    tries += 1
print(tries, torch.randint(1, 9, (2, 2)).tolist(), [int(n) for n in torch.normal(20.0, 5.0, (4,))])
noise = torch.randn(4, 8)
print(noise.argmax(1).tolist(), (noise > 0).sum(1).tolist(), noise.topk(2, dim=1).indices.tolist(), noise.abs().max(0).indices.tolist())
