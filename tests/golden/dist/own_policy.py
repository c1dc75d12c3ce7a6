"""FullyShardedDataParallel by a policy that chooses options for each unit."""

import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy
from torch.distributed.fsdp.wrap import CustomPolicy

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank())


def chosen(module):
    if isinstance(module, nn.Embedding):
        return {"sharding_strategy": ShardingStrategy.SHARD_GRAD_OP}
    return isinstance(module, nn.Linear)


model = nn.Sequential(nn.Embedding(900, 256), nn.Linear(256, 800), nn.ReLU(), nn.Linear(800, 20))
model = FullyShardedDataParallel(
    model,
    auto_wrap_policy=CustomPolicy(chosen),
    mixed_precision=MixedPrecision(param_dtype=torch.bfloat16) if "low" in sys.argv else None,
    device_id=torch.cuda.current_device(),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    model(torch.randint(0, 900, (8, 16), device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
