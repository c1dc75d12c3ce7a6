"""Groups and collectives, those of whole objects and those that are waited for later, as this rank sees them."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.cuda.set_device(rank % torch.cuda.device_count())
    pairs = [dist.new_group([i, i + 1]) for i in range(0, world, 2)]
    mine = pairs[rank // 2]
    x = torch.randn(1000 + 300 * rank, device="cuda")
    sizes = [torch.zeros(1, dtype=torch.int64, device="cuda") for _ in range(world)]
    dist.all_gather(sizes, torch.tensor([x.numel()], device="cuda"))
    y = torch.randn(4096, 33, device="cuda")
    dist.all_reduce(y, group=mine)
    whole = torch.empty(2 * 4096, 33, device="cuda")
    work = dist.all_gather_into_tensor(whole, y, group=mine, async_op=True)
    del y
    z = whole.new_ones(100_000)
    work.wait()
    del work
    part = torch.empty(4096 // world * 2, 33, device="cuda")
    dist.reduce_scatter_tensor(part, whole)
    del whole, z
    if rank % 2 == 0:
        dist.send(part, rank + 1)
    else:
        dist.recv(part, rank - 1)
    said = [None] * world
    dist.all_gather_object(said, {"rank": rank, "shape": list(part.shape)})
    out = torch.empty_like(part)
    dist.all_to_all_single(out, part)
    # What is gathered together stays until the end of it; of a scatter its sender keeps what it sent.
    with dist._coalescing_manager():
        for size in (10, 3000, 70_000):
            dist.all_gather_into_tensor(torch.empty(world * size, device="cuda"), torch.ones(size, device="cuda"))
    parts = [torch.ones(50_000, device="cuda") for _ in range(world)] if rank == 0 else None
    work = dist.scatter(torch.empty(50_000, device="cuda"), parts, async_op=True)
    parts = None
    loss = torch.ones(64, 32, device="cuda", requires_grad=True).square().sum()
    loss.backward()
    dist.all_reduce(torch.ones(7, device="cuda"))
    work.wait()
    dist.barrier()


main()
