"""What picks values out of DTensors that want gradients: no gradient is asked for. The largest of parts are what is still to be reduced."""
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
mesh = init_device_mesh("cuda", (4,))


def spread(tensor, placement):
    return distribute_tensor(tensor, mesh, [placement])


def at(placement, count=20):
    return spread(torch.arange(count, device="cuda"), placement)


for placement in (Shard(0), Shard(1), Replicate(), Partial()):
    for index in (Replicate(), Shard(0)):
        for dim in (0, 1):
            x = torch.randn(40, 24, device="cuda")
            x = DTensor.from_local(x, mesh, [placement]) if placement.is_partial() else spread(x, placement)
            print(x.index_select(dim, at(index)).placements)
big = spread(torch.randn(4000, 2400, device="cuda"), Shard(0))
for dim, index, count in ((0, Replicate(), 20), (0, Shard(0), 2000), (1, Shard(0), 2000)):
    big.index_select(dim, at(index, count))
w = big.detach().requires_grad_()
made = [w.cumsum(1), w.topk(3, dim=1), w.sort(1), w.max(1), w.min(0), w.index_select(0, at(Replicate()))]
made += [w.topk(5)[1], w.max(-1)[1], w.argmax(-1)]
print([t.requires_grad for pair in made for t in (pair if isinstance(pair, tuple) else [pair])])
for some in (w.max(0)[0], w.argmax(0), w.argmin(1), w.max(1, keepdim=True)[0], w.max(0, keepdim=True)[1]):
    print(some.placements, some.full_tensor().shape)
dist.destroy_process_group()
