"""DistributedDataParallel whose hook sends several buckets in half precision: what the last step sent goes at this one's first."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    model = nn.Sequential(nn.Linear(100, 300), nn.ReLU(), nn.Linear(300, 500), nn.ReLU(), nn.Linear(500, 1000)).cuda()
    replica = DistributedDataParallel(model, bucket_cap_mb=0.5, gradient_as_bucket_view=True)
    replica.register_comm_hook(None, default_hooks.fp16_compress_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        replica(torch.randn(8, 100, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    # Modules that are sharded together: the first of them is let go first.
    fully_shard([nn.LayerNorm(64).cuda(), nn.Linear(64, 30).cuda()])


main()
