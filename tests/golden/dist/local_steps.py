"""Gradients summed over all ranks, then over two; parameters averaged every second step. A state that knows itself."""

import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import PostLocalSGDState, post_localSGD_hook
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.distributed.checkpoint.stateful import Stateful
from torch.distributed.optim import PostLocalSGDOptimizer
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
device = torch.device("cuda", dist.get_rank())
torch.cuda.set_device(device)
pair, _ = dist.new_subgroups(group_size=2)
model = DistributedDataParallel(
    nn.Sequential(nn.Linear(300, 700), nn.ReLU(), nn.Linear(700, 300), nn.ReLU(), nn.Linear(300, 10)).to(device),
    device_ids=[device.index],
    bucket_cap_mb=1,
)
state = PostLocalSGDState(None, pair, start_localSGD_iter=2, post_local_gradient_allreduce=len(sys.argv) < 2)
model.register_comm_hook(state, post_localSGD_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
optimizer = PostLocalSGDOptimizer(optimizer, PeriodicModelAverager(period=2, warmup_steps=2))


class Trainer(Stateful):
    def state_dict(self):
        return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}

    def load_state_dict(self, state_dict):
        model.load_state_dict(state_dict["model"])
        optimizer.load_state_dict(state_dict["optimizer"])


trainer = Trainer()
for step in range(5):
    loss = model(torch.randn(16, 300, device=device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 3:
        trainer.load_state_dict(trainer.state_dict())
