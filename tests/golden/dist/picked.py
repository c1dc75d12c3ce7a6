"""Rows of DTensors that are picked by index_select, and their gradients."""
import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
index = distribute_tensor(torch.tensor([1, 3, 5, 7], device="cuda"), mesh, [Replicate()])
for placement in (Replicate(), Shard(0), Shard(1)):
    x = distribute_tensor(torch.randn(200, 160, device="cuda"), mesh, [placement]).requires_grad_()
    rows = x.index_select(0, index)
    rows.sum().backward()
    rows = x.index_select(0, index) * 3
    if not placement.is_shard(0):
        (rows * rows).mean().backward()
    print(rows.placements, x.grad.placements)
dist.destroy_process_group()
