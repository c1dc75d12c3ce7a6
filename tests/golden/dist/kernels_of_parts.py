"""Operators on DTensors: losses of logarithms, products, padding, classes one by one and similarity, with gradients."""
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
mesh = init_device_mesh("cuda", (dist.get_world_size(),))


def spread(values, *placements):
    return distribute_tensor(values.cuda(), mesh, list(placements) or [Shard(0)])


w = nn.Parameter(spread(torch.randn(48, 72)))
columns = nn.Parameter(spread(torch.randn(48, 72), Shard(1)))
whole = nn.Parameter(spread(torch.randn(48, 72), Replicate()))
batches = nn.Parameter(spread(torch.randn(12, 24, 24)))
long, short = nn.Parameter(spread(torch.randn(72))), spread(torch.randn(48), Replicate())
places, classes = spread(torch.randint(0, 72, (48, 10))), spread(torch.randint(0, 20, (48,)))
values = [
    lambda: F.nll_loss(w.log_softmax(1), classes), lambda: F.nll_loss(columns.log_softmax(1), classes, reduction="sum"),
    lambda: torch.baddbmm(batches, batches, batches.detach()).sum(), lambda: torch.outer(long, short).sum(),
    lambda: w.scatter_add(1, places, w.detach() * 2).sum(), lambda: torch.mv(w, long).square().sum(),
    lambda: torch.mv(columns, long).sum(), lambda: (whole @ long).sum(), lambda: F.pad(w, (1, 2, 0, 3)).sum(),
    lambda: (w.softmax(1)[:, :20] * F.one_hot(classes, 20)).sum(), lambda: F.mish(w).sum(), lambda: F.mish(columns).mean(),
    lambda: F.cosine_similarity(w, whole, dim=1).sum(), lambda: (w.exp() * (w / long)).sum(),
]
optimizer = torch.optim.SGD([w, columns, whole, batches, long], lr=0.1)
for value in values:
    value().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
