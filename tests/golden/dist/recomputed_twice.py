"""Regions that several backward passes recompute, each for itself; modules that recompute themselves."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed._composable import checkpoint as recomputed
from torch.distributed.fsdp import fully_shard
from torch.utils.checkpoint import checkpoint

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(64), nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x, scale=1.0):
        return x + scale * self.down(torch.relu(self.up(self.norm(x))))


blocks = nn.ModuleList(Block() for _ in range(3)).cuda()
x = torch.randn(24, 64, device="cuda", requires_grad=True)
out = x
for block in blocks:
    out = checkpoint(block, out, use_reentrant=False)
loss = out.square().mean()
(of_x,) = torch.autograd.grad(loss, x, retain_graph=True)
of_blocks = torch.autograd.grad(loss, list(blocks.parameters()))
del out, loss, of_x

blocks = nn.Sequential(*[Block() for _ in range(3)]).cuda()
recomputed(blocks[0])
recomputed(blocks[2], preserve_rng_state=False)
for block in blocks:
    fully_shard(block)
fully_shard(blocks)
for _ in range(2):
    blocks(x).square().mean().backward()
    with torch.no_grad():
        blocks(x)
dist.destroy_process_group()
