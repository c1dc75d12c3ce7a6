"""FullyShardedDataParallel whose optimizer's states are taken whole and in rows, and given back; `original`: with the parameters as they were."""
import functools
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.fsdp import (
    FullOptimStateDictConfig, FullStateDictConfig, FullyShardedDataParallel as FSDP, ShardedOptimStateDictConfig, ShardedStateDictConfig,
    ShardingStrategy, StateDictType,
)
from torch.distributed.fsdp.wrap import ModuleWrapPolicy, size_based_auto_wrap_policy

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
kind = sys.argv[1] if len(sys.argv) > 1 else "flat"


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, vocab=1003, d=96):
        super().__init__()
        self.embed, self.blocks, self.head = nn.Embedding(vocab, d), nn.Sequential(*[Block(d) for _ in range(3)]), nn.Linear(d, vocab, bias=False)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x)))


options = {"auto_wrap_policy": ModuleWrapPolicy({Block}), "device_id": torch.cuda.current_device()}
if kind == "original":
    options.update(use_orig_params=True, auto_wrap_policy=functools.partial(size_based_auto_wrap_policy, min_num_params=1), sync_module_states=True,
                   sharding_strategy=ShardingStrategy.NO_SHARD)
elif kind == "hybrid":
    mesh = dist.device_mesh.init_device_mesh("cuda", (2, dist.get_world_size() // 2))
    options.update(sync_module_states=True, sharding_strategy=ShardingStrategy.HYBRID_SHARD, device_mesh=mesh)
model = FSDP(Net(), **options)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=kind == "hybrid")


def step(length):
    x = torch.randint(0, 1003, (4, length), device="cuda")
    loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


for length in (64, 80):
    step(length)

# a checkpoint as the tutorial writes it
FSDP.set_state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(offload_to_cpu=True, rank0_only=True), FullOptimStateDictConfig(offload_to_cpu=True))
saved = {"model": model.state_dict(), "optimizer": FSDP.optim_state_dict(model, optimizer)}
print(len(saved["model"]), len(saved["optimizer"]["state"]))
step(64)

# the same on the GPU, given back
with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, None, FullOptimStateDictConfig(offload_to_cpu=False)):
    moments = FSDP.optim_state_dict(model, optimizer)
    optimizer.load_state_dict(FSDP.optim_state_dict_to_load(model, optimizer, moments))
del moments
step(96)

# rows of each rank
with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig(), ShardedOptimStateDictConfig(offload_to_cpu=kind != "hybrid")):
    rows = FSDP.optim_state_dict(model, optimizer)
    optimizer.load_state_dict(FSDP.optim_state_dict_to_load(model, optimizer, rows))
del rows
step(32)
optimizer.load_state_dict(FSDP.shard_full_optim_state_dict(saved["optimizer"], model, optim=optimizer))
del saved
step(64)
whole = FSDP.full_optim_state_dict(model, optimizer)
print(len(whole), torch.cuda.max_memory_allocated())
dist.destroy_process_group()
