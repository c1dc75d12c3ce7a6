"""Flat parameters of which some are frozen and some left out; replicas of a static graph with a communication hook."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.nn.parallel import DistributedDataParallel


class Block(nn.Module):
    def __init__(self, width=200):
        super().__init__()
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
net = nn.Sequential(nn.Linear(100, 200), *[Block() for _ in range(4)], nn.Linear(200, 10)).cuda()
net[0].bias.requires_grad_(False)
for block in net[1:3]:
    block.requires_grad_(False)
model = FSDP(net, auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=True, ignored_modules=[net[5]])
replicas = DistributedDataParallel(Block().cuda(), static_graph=True, bucket_cap_mb=1)
replicas.register_comm_hook(None, default_hooks.allreduce_hook)
for wrapped, width in ((model, 100), (replicas, 200)):
    optimizer = torch.optim.SGD([p for p in wrapped.parameters() if p.requires_grad], lr=0.1, momentum=0.9)
    for _ in range(3):
        wrapped(torch.randn(64, width, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
with FSDP.summon_full_params(model):
    print(sum([p.numel() for p in model.parameters()]))
dist.destroy_process_group()
