"""Three stages of a pipeline, one forward and one backward in turn."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B


def main():
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    part = nn.Sequential(nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 300)).to(device)
    like = torch.zeros(16, 300, device="meta")
    stage = PipelineStage(part, rank, world, device, input_args=(like,), output_args=(like,))
    schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.SGD(part.parameters(), lr=0.1, momentum=0.9)
    x, target = torch.randn(64, 300, device=device), torch.randn(64, 300, device=device)
    for _ in range(2):
        if rank == 0:
            schedule.step(x)
        elif rank == world - 1:
            schedule.step(target=target, losses=[])
        else:
            schedule.step()
        optimizer.step()
        optimizer.zero_grad()


main()
