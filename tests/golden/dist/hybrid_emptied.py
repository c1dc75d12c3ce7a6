"""Hybrid sharding, whose streams have two priorities; the cache is emptied, stream by stream, after each step."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (2, dist.get_world_size() // 2), mesh_dim_names=("replicate", "shard"))
low = torch.float16
model = FSDP(
    nn.Sequential(nn.Linear(96, 768), nn.GELU(), nn.Linear(768, 96), nn.LayerNorm(96)).cuda(), device_mesh=mesh,
    sharding_strategy=ShardingStrategy._HYBRID_SHARD_ZERO2, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}),
    mixed_precision=MixedPrecision(param_dtype=low, reduce_dtype=low),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(2):
    model(torch.randn(24, 96, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.empty_cache()
dist.destroy_process_group()
