"""Stages of a pipeline that ask their neighbours for shapes: one pass without gradients before the first step. Of a
checkpoint's policy nothing is asked then."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.fsdp import fully_shard
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.utils.checkpoint import create_selective_checkpoint_contexts


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(128, 512), nn.Linear(512, 128)

    def forward(self, x):
        h = self.up(x)
        h = torch.relu(h)
        return x + self.down(h)


def products():
    return create_selective_checkpoint_contexts([torch.ops.aten.addmm.default])


dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (world // 2, 2), mesh_dim_names=("pp", "dp"))
place, count = mesh["pp"].get_local_rank(), world // 2
blocks = [checkpoint_wrapper(Block(), context_fn=products, preserve_rng_state=False) for _ in range(2)]
model = nn.Sequential(nn.Embedding(512, 128), *blocks) if place == 0 else nn.Sequential(*blocks)
model = model.cuda()
fully_shard(model, mesh=mesh["dp"])
stage = PipelineStage(model, place, count, torch.device("cuda", torch.cuda.current_device()), group=mesh["pp"].get_group())
schedule = Schedule1F1B(stage, n_microbatches=2 * count, loss_fn=lambda out, target: (out - target).square().mean())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    tokens = torch.randint(0, 512, (2 * count * 2, 64), device="cuda")
    if place == 0:
        schedule.step(tokens)
    elif place == count - 1:
        schedule.step(target=torch.zeros(2 * count * 2, 64, 128, device="cuda"), losses=[])
    else:
        schedule.step()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
