"""Tensors beside DTensors that count as lying whole on all ranks: results, and an optimizer of both kinds."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import implicit_replication

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
x = distribute_tensor(torch.randn(40, 64, device="cuda"), mesh, [Shard(0)])
mask, factor = torch.ones(40, 64, device="cuda"), torch.randn(64, 16, device="cuda")
with torch.no_grad(), implicit_replication():
    y = torch.where(x * mask > 0, x, torch.zeros((), device="cuda"))
    total = (y @ factor).sum()
    print(y.placements, total.placements, total.full_tensor().shape)
weight = nn.Parameter(distribute_tensor(torch.randn(16, 64, device="cuda"), mesh, [Replicate()]))
with implicit_replication():
    out = x @ weight.t() + torch.ones(16, device="cuda")
out.sum().backward()
model = nn.Sequential(nn.Linear(50, 70), nn.Linear(70, 30)).cuda()
fully_shard(model[0])
for optimizer in (
    torch.optim.AdamW(model.parameters(), lr=1e-3), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
):
    for step in range(2):
        model(torch.randn(8, 50, device="cuda")).square().mean().backward()
        with implicit_replication():
            optimizer.step()
        optimizer.zero_grad()
dist.destroy_process_group()
