"""A communication hook within another: gradients in half precision, which are then compressed, as views of their buckets."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(rank)
    model = nn.Sequential(nn.Linear(300, 500), nn.ReLU(), nn.Linear(500, 10)).cuda()
    model = DistributedDataParallel(model, device_ids=[rank], gradient_as_bucket_view=True)
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2)
    model.register_comm_hook(state, default_hooks.fp16_compress_wrapper(powerSGD_hook.powerSGD_hook))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(4):
        loss = model(torch.randn(32, 300, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
