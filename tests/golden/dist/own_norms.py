"""A norm written out in operators, over parts of the sequence, whose input is still being gathered."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return y.type_as(x) * self.weight


model = nn.Sequential(nn.Embedding(600, 256), Norm(256), nn.Linear(256, 600)).cuda().bfloat16()
parallelize_module(model, mesh, {
    "0": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)), "1": SequenceParallel(),
    "2": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    model(torch.randint(0, 600, (4, 64), device="cuda")).float().square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
