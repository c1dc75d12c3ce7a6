"""Functions of DTensors' values, and .data of parameters that are DTensors, which does not reach their parts."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank())
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
model = nn.Sequential(nn.Linear(300, 500), nn.GELU(), nn.Linear(500, 70)).cuda()
fully_shard(model)
model.to(torch.float64).to(torch.float32)
for parameter in model.parameters():
    parameter.data = parameter.data * 0.5
model(torch.randn(8, 300, device="cuda")).sum().backward()
x = distribute_tensor(torch.randn(64, 200, device="cuda"), mesh, [Shard(0)])
for function in (torch.sin, torch.cos, torch.erf, torch.log1p, torch.floor, torch.round, torch.trunc, torch.atan, torch.expm1):
    x = x + function(x)
kept = [torch.logical_and(x > 0, x < 1), torch.signbit(x), torch.fmax(x, x), torch.atan2(x, x), torch.nan_to_num(x)]
print([t.to_local().shape for t in kept])
