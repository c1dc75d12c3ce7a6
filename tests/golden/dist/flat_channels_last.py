"""FullyShardedDataParallel over convolutions in channels_last: flat parameters keep how each lies in memory."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

dist.init_process_group("nccl")
local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)


class Res(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv1, self.bn, self.conv2, self.skip = nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.Conv2d(o, o, 3, padding=1), nn.Conv2d(i, o, 1)

    def forward(self, x):
        return self.skip(x) + self.conv2(self.bn(self.conv1(x)).relu())


for original, strategy in ((True, ShardingStrategy.FULL_SHARD), (False, ShardingStrategy.SHARD_GRAD_OP), (True, ShardingStrategy.NO_SHARD)):
    net = nn.Sequential(nn.Conv2d(3, 16, 3), Res(16, 24), Res(24, 32), nn.Flatten(), nn.LazyLinear(10)).cuda()
    net(torch.zeros(2, 3, 18, 18, device="cuda"))
    net = FSDP(net.to(memory_format=torch.channels_last), auto_wrap_policy=ModuleWrapPolicy({Res}), device_id=local, use_orig_params=original, sharding_strategy=strategy)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    for step in range(2):
        x = torch.randn(4, 3, 18, 18, device="cuda").to(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.bfloat16):
            loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    state = net.state_dict()
    del state, net, optimizer, loss, x
dist.destroy_process_group()
