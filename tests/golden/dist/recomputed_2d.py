"""Tensor parallel under fully_shard, every block recomputed; evaluated between two steps."""
import os
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, loss_parallel, parallelize_module
from torch.utils.checkpoint import checkpoint

dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))

mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))


class Block(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.n, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.n(x))))


class Net(nn.Module):
    def __init__(self, d=256, v=1024):
        super().__init__()
        self.embed, self.blocks, self.norm, self.head = nn.Embedding(v, d), nn.ModuleList(Block() for _ in range(3)), nn.LayerNorm(d), nn.Linear(d, v, bias=False)

    def forward(self, x):
        x = self.embed(x)
        for b in self.blocks:
            x = checkpoint(b, x, use_reentrant=False) if self.training else b(x)
        return self.head(self.norm(x))


model = Net().cuda()
tp = mesh["tp"]
parallelize_module(model, tp, {"embed": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)), "norm": SequenceParallel(), "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate())})
for b in model.blocks:
    parallelize_module(b, tp, {"n": SequenceParallel(), "up": ColwiseParallel(input_layouts=Shard(1)), "down": RowwiseParallel(output_layouts=Shard(1))})
    fully_shard(b, mesh=mesh["dp"], mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
fully_shard(model, mesh=mesh["dp"], mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
for step in range(2):
    x = torch.randint(0, 1024, (4, 64), device="cuda")
    F.cross_entropy(model(x).flatten(0, 1).float(), x.flatten()).backward()
    opt.step()
    opt.zero_grad()
    model.eval()
    with torch.no_grad():
        for _ in range(2):
            F.cross_entropy(model(x).flatten(0, 1).float(), x.flatten()).item()
    model.train()
dist.destroy_process_group()
