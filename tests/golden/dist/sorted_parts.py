"""Sums, sorting and the largest few along dimensions that lie in parts, and along others."""
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
flat = init_device_mesh("cuda", (4,))
made = []
for shape in ((64, 64), (512, 2048), (33, 65), (64,), (6, 8, 16)):
    for dim in range(len(shape)):
        x = distribute_tensor(torch.randn(shape, device="cuda"), flat, [Shard(dim)])
        made.append(x.cumsum(dim)); made.append(x.sort(dim)); made.append(x.topk(3, dim))
        made.append(x.cumsum(-1)); made.append(x.sort()); made.append(x.topk(2))
dist.destroy_process_group()
