"""Two replicated models, one of which runs forward twice before a backward pass, as adversarial training does."""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
device = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(device)
maker = DistributedDataParallel(nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 64)).cuda(), device_ids=[device])
judge = DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).cuda(), device_ids=[device])
of_maker, of_judge = (torch.optim.Adam(m.parameters(), lr=1e-3) for m in (maker, judge))
for step in range(3):
    real, made = torch.randn(16, 64, device="cuda"), maker(torch.randn(16, 32, device="cuda"))
    of_judge.zero_grad()
    (F.softplus(-judge(real)).mean() + F.softplus(judge(made.detach())).mean()).backward()
    of_judge.step()
    of_maker.zero_grad()
    F.softplus(-judge(made)).mean().backward()
    of_maker.step()
dist.destroy_process_group()
