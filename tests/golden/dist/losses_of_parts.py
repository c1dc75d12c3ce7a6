"""Losses of DTensors, activations, deviations and choices among what lies in parts, forward and backward."""
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


w = nn.Parameter(spread(torch.randn(64, 80)))
columns = nn.Parameter(spread(torch.randn(64, 80), Shard(1)))
target, places = spread(torch.randn(64, 80)), spread(torch.randint(0, 80, (64, 10)))
losses = [
    lambda: F.mse_loss(w, target), lambda: F.mse_loss(columns, target, reduction="sum"),
    lambda: F.mse_loss(w, spread(torch.randn(64, 80), Replicate()), reduction="none").sum(),
    lambda: F.smooth_l1_loss(w, target), lambda: F.huber_loss(columns, columns.detach() * 2), lambda: F.l1_loss(w, target),
    lambda: F.binary_cross_entropy(w.sigmoid(), target.sigmoid()),
    lambda: F.kl_div(w.log_softmax(1), target.softmax(1), reduction="batchmean"), lambda: w.std(),
    lambda: w.std(dim=1).sum(), lambda: w.gather(1, places).sum(), lambda: w.repeat(1, 2).sum(), lambda: w.norm(p=1),
    lambda: torch.maximum(w, target).sum(), lambda: torch.minimum(target, w).sum(), lambda: F.softmin(w, 1).square().sum(),
    lambda: F.leaky_relu(w).sum(), lambda: F.elu(columns).sum(), lambda: F.softplus(w).sum(),
]
optimizer = torch.optim.SGD([w, columns], lr=0.1)
for loss in losses:
    loss().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
