"""Backward passes in two halves: gradients of what came in first, those of parameters later (zero bubble, V shapes)."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import get_schedule_class


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(300)
        self.up, self.down = nn.Linear(300, 500, bias=False), nn.Linear(500, 300, bias=False)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def main():
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    here = [rank, rank + world] if sys.argv[1] == "InterleavedZeroBubble" else [rank, 2 * world - 1 - rank]
    like = torch.zeros(16, 300, device="meta")
    stages = [
        PipelineStage(Part().to(device), i, 2 * world, device, input_args=(like,), output_args=(like,)) for i in here
    ]
    schedule = get_schedule_class(sys.argv[1])(stages, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.SGD([p for s in stages for p in s.submod.parameters()], lr=0.1, momentum=0.9)
    x, target = torch.randn(64, 300, device=device), torch.randn(64, 300, device=device)
    for _ in range(2):
        given = (x,) if 0 in here else ()
        schedule.step(*given, target=target, losses=[]) if 2 * world - 1 in here else schedule.step(*given)
        optimizer.step()
        optimizer.zero_grad()


main()
