"""An optimizer's states, each on one rank, brought together on rank 0: this rank sends what torch.save() writes."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
model = DDP(nn.Sequential(nn.Linear(70, 500), nn.ReLU(), nn.Linear(500, 90)).cuda(), device_ids=[local])
kinds = {
    "sgd": (torch.optim.SGD, {"momentum": 0.9}), "adamw": (torch.optim.AdamW, {"fused": True}),
    "rmsprop": (torch.optim.RMSprop, {"centered": True}), "nadam": (torch.optim.NAdam, {}),
    "adagrad": (torch.optim.Adagrad, {}),
}
for name in sys.argv[1:]:
    kind, settings = kinds[name]
    params = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() < 2]},
    ]
    optimizer = ZeroRedundancyOptimizer(params, optimizer_class=kind, lr=0.01, **settings)
    for _ in range(2):
        model(torch.randn(16, 70, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    optimizer.consolidate_state_dict()
dist.destroy_process_group()
