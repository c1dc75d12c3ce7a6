"""fully_shard by columns where they are many, each block checkpointed but for every second product."""
import functools
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts


class Block(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (y.view(b, t, -1, 32).transpose(1, 2) for y in self.qkv(self.norm(x)).chunk(3, dim=-1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, -1))
        return x + self.down(F.gelu(self.up(x)))


def contexts():
    seen = [0, 0]

    def policy(ctx, op, *args, **kwargs):
        if op == torch.ops.aten.mm.default:
            seen[ctx.is_recompute] += 1
            keeps = seen[ctx.is_recompute] % 2 == 1
        else:
            keeps = op == torch.ops.aten._scaled_dot_product_flash_attention.default
        return CheckpointPolicy.MUST_SAVE if keeps else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
blocks = nn.ModuleList(Block() for _ in range(3)).cuda().bfloat16()
for block in blocks:
    fully_shard(block, shard_placement_fn=lambda p: Shard(1) if p.dim() == 2 and p.shape[1] > p.shape[0] else None)
optimizer = torch.optim.AdamW(blocks.parameters(), lr=1e-3, fused=True)
for _ in range(2):
    x = torch.randn(4, 128, 192, device="cuda", dtype=torch.bfloat16)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, context_fn=contexts)
    x.float().square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
