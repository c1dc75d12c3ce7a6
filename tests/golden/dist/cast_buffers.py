"""FSDP whose buffers compute in another type: state dicts have them in their own, on the GPU, wherever the rest goes."""
import sys
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import (
    FullStateDictConfig, FullyShardedDataParallel as FSDP, MixedPrecision, ShardedStateDictConfig, StateDictType,
)
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(64, 64), nn.LayerNorm(64)
        self.register_buffer("scale", torch.ones(900))

    def forward(self, x):
        return self.norm(self.linear(x)) * self.scale[0]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())
        self.out = nn.Linear(64, 5)
        self.register_buffer("place", torch.randn(50, 192), persistent=False)

    def forward(self, x):
        return self.out(self.blocks(x)) + self.place[0, 0]


low = MixedPrecision(param_dtype=torch.float16, buffer_dtype=torch.float16)
net = FSDP(Net(), auto_wrap_policy=ModuleWrapPolicy({Block}), mixed_precision=low, device_id=torch.cuda.current_device(), use_orig_params="original" in sys.argv)
net(torch.randn(8, 64, device="cuda")).sum().backward()
for kind, config in (
    (StateDictType.FULL_STATE_DICT, FullStateDictConfig(offload_to_cpu=True)),
    (StateDictType.FULL_STATE_DICT, FullStateDictConfig()),
    (StateDictType.FULL_STATE_DICT, FullStateDictConfig(offload_to_cpu=True, rank0_only=True)),
    (StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig(offload_to_cpu=True)),
):
    with FSDP.state_dict_type(net, kind, config):
        states = net.state_dict()
        print(sorted((name, str(value.device), str(value.dtype)) for name, value in states.items() if "place" in name or "scale" in name))
dist.destroy_process_group()
