"""Operators on DTensors that pick out or put in order; what a view of a copy keeps; a norm written by hand."""
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel
from torch.distributed.tensor.parallel import parallelize_module

dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank % torch.cuda.device_count())
mesh = init_device_mesh("cuda", (world,))


def spread(dim, *shape):
    return distribute_tensor(torch.randn(*shape, device="cuda"), mesh, [Shard(dim)])


rows, columns = spread(0, 64, 300), spread(1, 64, 300)
for x in (rows, columns):
    for made in (x.argmax(-1), x.argmin(0), x.max(-1).indices, x.min(0)[0], x.topk(4, -1)[0], x.sort(-1)[1], x.std(-1)):
        del made
    x.cumsum(-1), x.cumsum(1), x.logsumexp(-1), x.prod(-1), x.repeat(1, 2), x.repeat_interleave(2, dim=1)
    x.new_zeros(64, 300), x.new_full((3, 5), 1.0), torch.linalg.vector_norm(x, 2, dim=-1)
    x[:, 5], x[:, :100:2], x[..., -1], x[3], x[2:40, None], x.equal(x)
halves, some = rows.chunk(2, 0), rows.split(100, 1)
del halves, some
whole = distribute_tensor(torch.randn(300, 80, device="cuda"), mesh, [Replicate()])
torch.einsum("bd,dk->bk", rows, whole)
q = spread(0, 8, 16, 4, 32)
torch.einsum("bthd,bshd->bhts", q, q)
torch.view_as_real(torch.view_as_complex(q.reshape(8, 16, 4, 16, 2))).flatten(3)
rows.gather(1, distribute_tensor(torch.zeros(64, 5, dtype=torch.long, device="cuda"), mesh, [Shard(0)]))
rows[:, 0].fill_(1.0)
rows[:, 1:3] = rows[:, 5:7]
del x, q, columns
leaf, weight = rows.detach().requires_grad_(), whole.detach().requires_grad_()
target = distribute_tensor(torch.zeros(64, dtype=torch.long, device="cuda"), mesh, [Shard(0)])
F.cross_entropy(leaf @ weight, target).backward()
leaf.logsumexp(-1).sum().backward()
del leaf, weight, target, rows, whole


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Block(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm, self.up, self.down = Norm(width), nn.Linear(width, 512), nn.Linear(512, width)

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Mlp(Block):
    def forward(self, x):
        return self.down(F.silu(self.up(x)).type_as(x))


net = nn.Sequential(Norm(256), Mlp()).cuda()
parallelize_module(net, mesh, {
    "0": SequenceParallel(), "1": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
    "1.up": ColwiseParallel(), "1.down": RowwiseParallel(output_layouts=Shard(1)),
})
for step in range(2):
    net(torch.randn(2, 32, 256, device="cuda", requires_grad=True)).pow(2).mean().backward()
    with torch.autocast("cuda", torch.bfloat16):
        loss = net(torch.randn(2, 32, 256, device="cuda", requires_grad=True)).softmax(-1).pow(2).mean()
    loss.backward()
del net, loss
swapped = spread(2, 4, 32, 64).redistribute(placements=[Shard(1)])
del swapped

# Several collectives in one are one of their own, which nobody waits for.
with dist._coalescing_manager(device=torch.device("cuda"), async_ops=True) as manager:
    for size in (500, 700):
        dist.all_gather_into_tensor(torch.empty(world * size, device="cuda"), torch.randn(size, device="cuda"))
manager.wait()
torch.ones(1, device="cuda", requires_grad=True).sum().backward()
dist.all_reduce(torch.ones(3, device="cuda"))
flat = FSDP(nn.Sequential(nn.Linear(300, 700), nn.Linear(700, 301)), device_id=torch.cuda.current_device())
with FSDP.summon_full_params(flat, writeback=False):
    sum(p.norm() for p in flat.parameters())
del flat
units = nn.Sequential(nn.Linear(256, 512), nn.Linear(512, 256)).cuda()
fully_shard(units[0], mesh=mesh, reshard_after_forward=world // 2)
fully_shard(units, mesh=mesh)
units(torch.randn(4, 256, device="cuda")).sum().backward()
dist.destroy_process_group()
