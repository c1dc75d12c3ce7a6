"""A pipeline whose backward passes are in halves: what goes in which order is left to chance."""

import contextlib
import functools
import os
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.pipelining import PipelineStage, ScheduleInterleavedZeroBubble

dist.init_process_group("nccl", device_id=torch.device('cuda', int(os.environ['LOCAL_RANK'])))
device = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(device)
rank, world = dist.get_rank(), dist.get_world_size()

class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
        self.o = nn.Linear(d, d)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.h, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0 if self.training else 0.0, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(b, t, c))

class MLP(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.w1, self.w2, self.drop = nn.Linear(d, f), nn.Linear(f, d), nn.Dropout(0.1)

    def forward(self, x):
        return self.w2(F.relu(self.w1(x)))


class Block(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        self.ln1, self.attn, self.ln2, self.mlp = nn.RMSNorm(d), Attention(d, h), nn.RMSNorm(d), MLP(d, f)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))



class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(2048, 128)

    def forward(self, x):
        return self.embed(x)


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 2048)

    def forward(self, x):
        return self.head(self.norm(x))


micros, rows, length, count = 2, 1, 32, 2 * world


def build(stage):
    parts = [Block(128, 4, 256) for _ in range(2)]
    return nn.Sequential(*([First()] if stage == 0 else []), *parts, *([Last()] if stage == count - 1 else [])).cuda()


def given(stage):
    if stage == 0:
        return torch.zeros(rows, length, dtype=torch.long, device="meta")
    return torch.zeros(rows, length, 128, device="meta")


def made(stage):
    return torch.zeros(rows, length, 2048 if stage == count - 1 else 128, device="meta")


def loss_fn(out, target):
    return F.cross_entropy(out.flatten(0, 1), target.flatten())


stages = []
for i in [rank + world * i for i in range(2)]:
    part = build(i)
    stages.append(PipelineStage(part, i, count, torch.device('cuda', device), input_args=(given(i),), output_args=(made(i),)))
schedule = ScheduleInterleavedZeroBubble(stages, n_microbatches=micros, loss_fn=loss_fn)
optimizer = torch.optim.AdamW([p for s in stages for p in s.submod.parameters()], lr=3e-4)
for step in range(2):
    x = torch.randint(0, 2048, (rows * micros, length), device="cuda")
    losses = []
    if any(s.is_first for s in stages) and any(s.is_last for s in stages):
        schedule.step(x, target=x, losses=losses)
    elif any(s.is_first for s in stages):
        schedule.step(x)
    elif any(s.is_last for s in stages):
        schedule.step(target=x, losses=losses)
    else:
        schedule.step()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
