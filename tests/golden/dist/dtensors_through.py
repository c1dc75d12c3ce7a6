"""A model of which every result stays a DTensor: attention by heads, norms, dropout, residuals, losses of DTensors, and operators one by one."""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        b, t, width = x.shape
        y = self.norm(x)
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in (self.q(y), self.k(y), self.v(y)))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, -1))
        return x + self.down(F.gelu(self.up(x)))


class Net(nn.Module):
    def __init__(self, width=128, words=512):
        super().__init__()
        self.embed, self.block, self.head = nn.Embedding(words, width), Block(width, 8), nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.block(self.embed(x)))


def by_rows(name, module, mesh):
    if isinstance(module, nn.Linear):
        for key, param in module.named_parameters():
            module.register_parameter(key, nn.Parameter(distribute_tensor(param.data, mesh, [Shard(0)])))


spread = dict(use_local_output=False)
columns = lambda: ColwiseParallel(input_layouts=Shard(1), **spread)
rows = lambda: RowwiseParallel(output_layouts=Shard(1), **spread)
model = Net().cuda()
plan = {"embed": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1), **spread), "block.norm": SequenceParallel()}
plan.update({f"block.{name}": columns() for name in ("q", "k", "v", "up")})
plan.update({f"block.{name}": rows() for name in ("o", "down")})
plan["head"] = ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate(), **spread)
parallelize_module(model, mesh, plan)
small = distribute_module(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32)).cuda(), mesh, by_rows)
optimizer = torch.optim.AdamW([*model.parameters(), *small.parameters()], lr=1e-3)
for step in range(2):
    x = torch.randint(0, 512, (2, 64), device="cuda")
    model(x).float().mean().backward()
    inputs = distribute_tensor(torch.randn(16, 64, device="cuda"), mesh, [Replicate()])
    ((small(inputs) - 1.0) ** 2).mean().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
a = distribute_tensor(torch.randn(32, 48, device="cuda", requires_grad=True), mesh, [Shard(1)])
b = distribute_tensor(torch.randn(32, 48, device="cuda", requires_grad=True), mesh, [Replicate()])
for value in (a * b, a / (b + 3.0), torch.softmax(a, -1), a @ b.t(), torch.cat([a, b]), torch.where(a > 0, a, b),
              a.amax(1), a.clamp(min=0), (a * a + 1).sqrt(), a.transpose(0, 1) * 2, torch.stack([a, b]), a.norm()):
    value.sum().backward()
dist.destroy_process_group()
