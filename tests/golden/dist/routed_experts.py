"""Experts over the ranks, as many tokens for each as its router says: the counts are read from the GPU. Where the GPU does not compute,
three arguments have them instead: tokens sent to each rank, received from each, and for each expert here."""

import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.nn.functional import all_to_all_single

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
rank, world = dist.get_rank(), dist.get_world_size()
given = [[int(n) for n in text.split(",")] for text in sys.argv[1:]]


class Experts(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.count = count
        self.gate = nn.Linear(width, count, bias=False)
        self.own = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 3 * width), nn.GELU(), nn.Linear(3 * width, width)) for _ in range(count // world)
        )

    def forward(self, x):
        rows = x.flatten(0, 1)
        share, chosen = self.gate(rows).softmax(-1).topk(2, dim=-1)
        counts = torch.bincount(chosen.flatten(), minlength=self.count)
        coming = torch.empty_like(counts)
        dist.all_to_all_single(coming, counts)
        sent, received = (c.view(world, -1).sum(1).tolist() for c in (counts, coming))
        here = coming.view(world, -1).sum(0).tolist()
        if given:
            sent, received, here = given
        order = chosen.flatten().argsort(stable=True)
        out = rows[order // 2]
        got = all_to_all_single(out.new_empty(sum(received), out.shape[1]), out, received, sent)
        made = torch.cat([expert(part) for expert, part in zip(self.own, got.split(here))])
        back = all_to_all_single(torch.empty_like(out), made, sent, received)
        back = back * share.flatten()[order].unsqueeze(1)
        return x + torch.zeros_like(rows).index_add(0, order // 2, back).view(x.shape)


class Net(nn.Module):
    def __init__(self, width=128, depth=2):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.blocks = nn.ModuleList(Experts(width, 2 * world) for _ in range(depth))
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(2):
    x = torch.zeros(4, 64, dtype=torch.long, device="cuda")
    F.cross_entropy(model(x).flatten(0, 1), x.flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
