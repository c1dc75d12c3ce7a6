"""FullyShardedDataParallel whose parameters are not all sharded: a unit that each rank has whole, and a module that no
unit has."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy

dist.init_process_group("nccl")
local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)


class Net(nn.Module):
    def __init__(self, d=192):
        super().__init__()
        whole, options = ShardingStrategy.NO_SHARD, {"device_id": local, "use_orig_params": "original" in sys.argv}
        self.first = FullyShardedDataParallel(nn.Linear(d, 3 * d), **options)
        self.second = FullyShardedDataParallel(nn.Linear(3 * d, d), sharding_strategy=whole, **options)
        self.third, self.own = nn.Linear(d, 10), nn.Linear(d, 3)

    def forward(self, x):
        x = self.second(self.first(x).relu())
        return self.third(x), self.own(x)


net = Net()
net.own.cuda()
model = FullyShardedDataParallel(
    net, ignored_modules=[net.own], device_id=local, use_orig_params="original" in sys.argv
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(2):
    a, b = model(torch.randn(8, 192, device="cuda"))
    (a.square().mean() + b.square().mean()).backward()
    model.clip_grad_norm_(0.5, norm_type=float("inf") if step else 2.0)
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
