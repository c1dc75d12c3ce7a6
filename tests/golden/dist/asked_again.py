"""Operators on DTensors that are asked again: views, products and sums of what lies alike, with and without gradients, under
autocast, of parts that lie otherwise in memory, in uneven parts, differentiated twice, recomputed and in place."""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.utils.checkpoint import checkpoint

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))


def made(*sizes, dtype=torch.float32):
    return torch.randn(*sizes, device="cuda", dtype=dtype)


def through(x, weight, heads):
    """views and a product, which a second call takes as the first did"""
    y = x.view(-1, x.shape[-1]).mm(weight.t())
    y = y.unflatten(0, (x.shape[0], -1)).reshape(x.shape[0], x.shape[1], heads, -1)
    return y.transpose(1, 2).unsqueeze(0).permute(0, 2, 1, 3, 4).flatten(3)


weight = nn.Parameter(distribute_tensor(made(192, 64), mesh, [Shard(0)]))
whole = DTensor.from_local(made(4, 8, 64), mesh, [Replicate()])
for turn in range(3):
    out = through(whole, weight, 8)
    out.sum().backward()
    with torch.no_grad():
        quiet = through(whole, weight, 8)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        low = through(whole, weight, 8)
    low.float().sum().backward()
    half = through(whole.bfloat16(), weight.bfloat16(), 8)
    print(turn, out.placements, quiet.placements, low.dtype, half.dtype, tuple(out.to_local().shape))
    del out, quiet, low, half
weight.grad = None

# Parts that lie otherwise in memory.
turned = DTensor.from_local(made(64, 32).t(), mesh, [Shard(0)])
plain = DTensor.from_local(made(32, 64), mesh, [Shard(0)])
for turn in range(2):
    for x in (plain, turned, plain + turned, turned + plain):
        with torch.no_grad():
            y = x * 2.0
            z = y + x
            z += y
            z.mul_(0.5).add_(y, alpha=3)
            w = z.t() if turn else z.transpose(0, 1)
            print(turn, z.to_local().stride(), w.to_local().stride(), z._spec.stride, w._spec.stride)
            v = w.reshape((1, *w.shape))
            print(v.placements, v.to_local().numel())
        del y, z, w, v

# Uneven parts.
uneven = distribute_tensor(made(10, 6, 4), mesh, [Shard(0)])
for turn in range(2):
    y = uneven.view(10, 24)
    z = y.t().unsqueeze(0) * 1.5
    print(turn, z.placements, y.placements)
    del y, z

# Terms of sums.
terms = DTensor.from_local(made(16, 32), mesh, [Partial()])
for turn in range(2):
    y = terms.view(4, 4, 32).transpose(0, 1)
    z = y + y
    print(turn, y.placements, z.placements, z.mul(2.0).placements)
    del y, z

# Differentiated twice, and with hooks of what is saved.
a, b = (nn.Parameter(distribute_tensor(made(64, 64), mesh, [Shard(d)])) for d in (0, 1))
left = DTensor.from_local(made(32, 64), mesh, [Replicate()]).requires_grad_()
for turn in range(2):
    y = left.mm(b).view(4, 8, 64)
    grads = torch.autograd.grad(y.sum(), (left, b), create_graph=True)
    (grads[0] * grads[0]).sum().backward()
    del y, grads
    left.grad = b.grad = None
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(tuple(t.shape)), t)[1], lambda t: t):
        y = left.mm(b).reshape(4, 8, 64)
    y.sum().backward()
    print(turn, packed)
    del y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256, bias=False), nn.Linear(256, 64, bias=False)

    def forward(self, x):
        return x + self.down(F.silu(self.up(x)))


net = nn.Sequential(*[Net().cuda() for _ in range(3)])
for each in net:
    parallelize_module(each, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(3):
    x = made(4, 16, 64)
    for each in net:
        x = checkpoint(each, x, use_reentrant=False) if step else each(x)
    x.square().mean().backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=step == 1)
    del x
print(torch.cuda.max_memory_allocated())
dist.destroy_process_group()
