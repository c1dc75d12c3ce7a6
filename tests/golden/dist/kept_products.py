"""Tensor parallel blocks under fully_shard of which every second product, attention and sums over ranks are kept."""
import os
from collections import defaultdict

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel
from torch.distributed.tensor.parallel import parallelize_module
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2), mesh_dim_names=("dp", "tp"))


class Block(nn.Module):
    def __init__(self, d=256, heads=8):
        super().__init__()
        self.heads, self.norm, self.norm2 = heads // 2, nn.RMSNorm(d), nn.RMSNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.up, self.gate, self.down = (nn.Linear(*s, bias=False) for s in ((d, 2 * d), (d, 2 * d), (2 * d, d)))

    def attention(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


KEPT = {
    torch.ops.aten.mm.default,
    torch.ops.aten._scaled_dot_product_flash_attention.default,
    torch.ops._c10d_functional.reduce_scatter_tensor.default,
}


def contexts():
    count = defaultdict(int)

    def policy(ctx, op, *args, **kwargs):
        if "aten.mm" in str(op):
            count[ctx.is_recompute] += 1
            if count[ctx.is_recompute] % 2 == 0:
                return CheckpointPolicy.PREFER_RECOMPUTE
        return CheckpointPolicy.MUST_SAVE if op in KEPT else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


model = nn.Sequential(*[Block() for _ in range(2)], nn.LayerNorm(256), nn.Linear(256, 64)).cuda().bfloat16()
for i in range(2):
    parallelize_module(model[i], mesh["tp"], {
        "norm": SequenceParallel(), "norm2": SequenceParallel(), "out": RowwiseParallel(output_layouts=Shard(1)),
        "qkv": ColwiseParallel(input_layouts=Shard(1)), "down": RowwiseParallel(output_layouts=Shard(1)),
        "gate": ColwiseParallel(input_layouts=Shard(1)), "up": ColwiseParallel(input_layouts=Shard(1)),
    })
    model[i] = checkpoint_wrapper(model[i], context_fn=contexts, preserve_rng_state=False)
    fully_shard(model[i], mesh=mesh["dp"])
fully_shard(model, mesh=mesh["dp"])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    model(torch.randn(4, 64, 256, device="cuda", dtype=torch.bfloat16)).float().square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
