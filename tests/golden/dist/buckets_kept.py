"""The first bucket of DistributedDataParallel, which NCCL's watchdog lets go of sooner or later."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = DistributedDataParallel(nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(6)]).cuda())
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    model(torch.randn(64, 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
