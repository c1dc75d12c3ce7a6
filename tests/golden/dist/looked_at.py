"""Gradients of a sharded model looked at by hand: norms of several kinds, sums, largest values; and a GradScaler."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard


def main():
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(rank)
    model = nn.Sequential(nn.Linear(300, 500), nn.ReLU(), nn.Linear(500, 10)).cuda()
    fully_shard(model)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), torch.amp.GradScaler("cuda")
    for order in (2.0, 1.0, float("inf")):
        with torch.autocast("cuda", dtype=torch.float16, cache_enabled=False):
            out = model(torch.randn(32, 300, device="cuda"))
            loss = nn.functional.cross_entropy(out, torch.arange(32, device="cuda") % 10)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        grads = [p.grad for p in model.parameters()]
        whole = torch.stack([g.norm() for g in grads]).norm().full_tensor()
        squares = sum(g.detach().float().pow(2).sum() for g in grads).full_tensor().sqrt()
        largest = [g.abs().max().full_tensor() for g in grads]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=order)
        print(whole.shape, squares.shape, len(largest))
        optimizer.step()
        scaler.update()
        optimizer.zero_grad()


main()
