"""A module that replicate() makes its own DistributedDataParallel; a function of parts; objects sent from rank to rank."""
import os
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed._composable.replicate import replicate
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import local_map

dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = replicate(nn.Sequential(nn.Embedding(900, 256), nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 900)).cuda(), bucket_cap_mb=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    model.set_requires_gradient_sync(step != 0)
    x = torch.randint(0, 900, (2, 100), device="cuda")
    F.cross_entropy(model(x).flatten(0, 1), x.flatten()).backward()
    if step != 0:
        optimizer.step()
        optimizer.zero_grad()
mesh = init_device_mesh("cuda", (world,))
product = local_map(torch.mm, [Shard(0)], ([Shard(0)], [Replicate()]), device_mesh=mesh, redistribute_inputs=True)
left = distribute_tensor(torch.randn(64, 100, device="cuda"), mesh, [Shard(1)]).requires_grad_()
right = distribute_tensor(torch.randn(100, 50, device="cuda"), mesh, [Replicate()])
product(left, right).sum().backward()
if rank == 0:
    dist.send_object_list([1, "two"], dst=1)
dist.destroy_process_group()
