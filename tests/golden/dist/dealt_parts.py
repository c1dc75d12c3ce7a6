"""Parts of tensors that three and more ranks do not divide, sent by rank 0."""
import os

import torch
import torch.distributed as dist
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = dist.device_mesh.init_device_mesh("cuda", (dist.get_world_size(),))
kept = []
for shape, dim in (((5, 300), 0), ((2, 700), 0), ((1, 40), 0), ((64, 9), 1), ((1,), 0)):
    kept.append(distribute_tensor(torch.randn(shape, device="cuda"), mesh, [Shard(dim)]))
print([tuple(x.to_local().shape) for x in kept], torch.cuda.memory_allocated())
dist.destroy_process_group()
