"""FullyShardedDataParallel over tensor parallelism: parts of DTensors in flat parameters; recomputed or not."""
import os
import sys
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.utils.checkpoint import checkpoint

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2), mesh_dim_names=("data", "parts"))
recomputes = sys.argv[1] == "recomputed"


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=96, words=500):
        super().__init__()
        self.embed, self.head = nn.Embedding(words, width), nn.Linear(width, words, bias=False)
        self.blocks = nn.ModuleList(Block(width) for _ in range(2))

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if recomputes else block(x)
        return self.head(x)


net = Net().cuda()
plan = {"embed": RowwiseParallel(input_layouts=Replicate()), "head": ColwiseParallel(output_layouts=Replicate())}
parallelize_module(net, mesh["parts"], plan)
for block in net.blocks:
    parallelize_module(block, mesh["parts"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
low = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32) if recomputes else None
policy = ModuleWrapPolicy({Block})
net = FSDP(net, device_mesh=mesh["data"], auto_wrap_policy=policy, use_orig_params=recomputes, mixed_precision=low)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randint(0, 500, (4, 64), device="cuda")
    F.cross_entropy(net(x).float().flatten(0, 1), x.flatten()).backward()
    net.clip_grad_norm_(1.0)
    optimizer.step()
    optimizer.zero_grad()
net.eval()
with torch.no_grad():
    net(x)
dist.destroy_process_group()
