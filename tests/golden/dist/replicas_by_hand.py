"""DistributedDataParallel as its tutorials write it: inputs on the host, on a mesh, join() of ranks with uneven inputs, PowerSGD."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(400, 1000)
        self.relu = nn.ReLU()
        self.norm = nn.BatchNorm1d(1000)
        self.net2 = nn.Linear(1000, 50)

    def forward(self, x, scale=None):
        x = self.net2(self.norm(self.relu(self.net1(x))))
        return x if scale is None else x * scale


def basic(rank, hook=None):
    model = ToyModel().to(rank)
    ddp_model = DDP(model, device_ids=[rank])
    if hook is not None:
        state = powerSGD.PowerSGDState(process_group=None, matrix_approximation_rank=2 if hook == "warm" else 1, start_powerSGD_iter=2,
                                       warm_start=hook == "warm", batch_tensors_with_same_shape=hook == "batched")
        ddp_model.register_comm_hook(state, powerSGD.powerSGD_hook)
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(ddp_model.parameters(), lr=0.001)
    for step in range(5):
        optimizer.zero_grad()
        outputs = ddp_model(torch.randn(20, 400), scale=torch.ones(50))
        labels = torch.randn(20, 50).to(rank)
        loss_fn(outputs, labels).backward()
        optimizer.step()


def uneven(rank, world):
    mesh = dist.device_mesh.init_device_mesh("cuda", (world,))
    model = DDP(ToyModel().cuda(), device_ids=[rank], device_mesh=mesh)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    inputs = [torch.ones(8 + i, 400, device="cuda") for i in range(4)]
    with model.join():
        for x in inputs:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    zero = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.01)
    with Join([model, zero], throw_on_early_termination=True):
        for x in inputs:
            zero.zero_grad()
            model(x).sum().backward()
            zero.step()


rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
kind = sys.argv[1] if len(sys.argv) > 1 else "basic"
if kind == "uneven":
    uneven(rank, dist.get_world_size())
elif kind == "basic":
    basic(rank)
else:
    basic(rank, kind)
print(torch.cuda.memory_allocated())
dist.destroy_process_group()
