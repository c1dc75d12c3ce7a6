"""ZeroRedundancyOptimizer whose steps run in DistributedDataParallel's communication hook, as each bucket comes or after the last one."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks.ddp_zero_hook import hook_with_zero_step, hook_with_zero_step_interleaved
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP


def main(kind):
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    layers = [layer for i in range(5) for layer in (nn.Linear(300, 300), nn.ReLU())]
    model = DDP(nn.Sequential(*layers, nn.LayerNorm(300), nn.Linear(300, 900)).cuda(), device_ids=[rank], bucket_cap_mb=1)
    if kind == "sgd":
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4, overlap_with_ddp=True)
        model.register_comm_hook(None, hook_with_zero_step(allreduce_hook, model, optimizer, shard_buckets=True))
    else:
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=1e-3, weight_decay=0.1, overlap_with_ddp=True)
        model.register_comm_hook(None, hook_with_zero_step_interleaved(allreduce_hook, model, optimizer))
    for step in range(6):
        model(torch.randn(64, 300, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    print(torch.cuda.memory_allocated())
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "adam")
