"""Three steps of DistributedDataParallel with small buckets and an optimizer whose states are shared out."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", dist.get_rank() % torch.cuda.device_count())
    torch.cuda.set_device(device)
    model = nn.Sequential(nn.Linear(500, 900), nn.GELU(), nn.Linear(900, 900), nn.GELU(), nn.Linear(900, 10)).to(device)
    model = DistributedDataParallel(model, device_ids=[device.index], bucket_cap_mb=1, gradient_as_bucket_view=True)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=1e-3)
    for _ in range(3):
        x = torch.randn(64, 500, device=device)
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


main()
