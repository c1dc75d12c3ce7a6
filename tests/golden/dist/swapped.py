"""Parts that are laid out along another dimension, and the largest of all, with gradients that are repeated."""
import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
for turn in range(2):
    for now, then in ((Shard(1), Shard(0)), (Shard(0), Shard(1))):
        x = distribute_tensor(torch.randn(64, 96, device="cuda"), mesh, [now]).requires_grad_()
        x.redistribute(placements=[then]).to_local().sum().backward()
        x.grad = None
        (x * 2).max().full_tensor().backward()
        x.min().float().sum().backward()
dist.destroy_process_group()
