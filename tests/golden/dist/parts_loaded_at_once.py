"""Parts of flat parameters, saved and loaded in one call: what nobody else has of them goes as it is taken."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import StateDictType
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
model = nn.Sequential(nn.Linear(64, 300), nn.GELU(), nn.LayerNorm(300), nn.Linear(300, 64)).cuda()
model = FSDP(model, device_mesh=mesh, use_orig_params=True, auto_wrap_policy=ModuleWrapPolicy({nn.LayerNorm}))
model(torch.randn(8, 64, device="cuda")).square().mean().backward()
with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):
    model.load_state_dict(model.state_dict())
    kept = model.state_dict()
    model.load_state_dict(kept)
model(torch.randn(8, 64, device="cuda")).square().mean().backward()
dist.destroy_process_group()
