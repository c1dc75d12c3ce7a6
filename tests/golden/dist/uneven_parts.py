"""Columns that the ranks do not divide evenly: dealt out, gathered, taken apart along another dimension."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor


def main():
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.cuda.set_device(rank)
    mesh = init_device_mesh("cuda", (world,))
    dealt = distribute_tensor(torch.randn(1000, 130, device="cuda"), mesh, [Shard(1)])
    whole = dealt.redistribute(mesh, [Replicate()])
    rows = whole.redistribute(mesh, [Shard(0)])
    columns = rows.redistribute(placements=[Shard(1)])
    again = columns.full_tensor()
    terms = DTensor.from_local(torch.randn(18, 16, device="cuda"), mesh, [Partial()])
    parts = terms.redistribute(placements=[Shard(0)])
    print(again.shape, parts.to_local().shape)


main()
