"""A language model split over two ranks by rows, columns and sequence, its loss by classes; or, with "sharded", over a mesh
of two dimensions with fully_shard over it, gradients clipped."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, loss_parallel, parallelize_module,
)

WIDTH, VOCAB = 128, 1024


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, -1, 32).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, -1))


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, 3 * WIDTH)
        self.down = nn.Linear(3 * WIDTH, WIDTH)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2, self.mix, self.mlp = nn.RMSNorm(WIDTH), nn.LayerNorm(WIDTH), Mixer(), Gated()

    def forward(self, x):
        x = x + self.mix(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.blocks = nn.Embedding(VOCAB, WIDTH), nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def split(model, mesh):
    whole = {"input_layouts": (Shard(1),), "desired_input_layouts": (Replicate(),)}
    parallelize_module(model, mesh, {
        "embed": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False),
    })
    for block in model.blocks:
        parallelize_module(block, mesh, {
            "norm1": SequenceParallel(), "norm2": SequenceParallel(),
            "mix": PrepareModuleInput(**whole), "mlp": PrepareModuleInput(**whole),
            "mix.q": ColwiseParallel(), "mix.k": ColwiseParallel(), "mix.v": ColwiseParallel(),
            "mix.o": RowwiseParallel(output_layouts=Shard(1)),
            "mlp.gate": ColwiseParallel(), "mlp.up": ColwiseParallel(),
            "mlp.down": RowwiseParallel(output_layouts=Shard(1)),
        })


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
is_sharded = "sharded" in sys.argv
mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2), mesh_dim_names=("dp", "tp"))
model = Net() if is_sharded else Net().cuda()
split(model, mesh["tp"])
if is_sharded:
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for part in [*model.blocks, model]:
        fully_shard(part, mesh=mesh["dp"], mp_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(2):
    x = torch.randint(0, VOCAB, (2, 128), device="cuda")
    with loss_parallel():
        F.cross_entropy(model(x).flatten(0, 1).float(), x.flatten()).backward()
    if is_sharded:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
