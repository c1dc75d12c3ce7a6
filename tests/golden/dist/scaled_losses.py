"""FullyShardedDataParallel in half precision: a scaled loss keeps its type."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler


def main():
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(rank)
    half = MixedPrecision(param_dtype=torch.float16, reduce_dtype=torch.float16, buffer_dtype=torch.float16)
    model = nn.Sequential(nn.Linear(300, 500), nn.ReLU(), nn.Linear(500, 10))
    model = FullyShardedDataParallel(model, device_id=rank, mixed_precision=half)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), ShardedGradScaler()
    for _ in range(2):
        loss = nn.functional.cross_entropy(model(torch.randn(32, 300, device="cuda")), torch.arange(32, device="cuda") % 10)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


main()
