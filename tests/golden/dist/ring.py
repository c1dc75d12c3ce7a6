"""Attention over a sequence that lies on several ranks: keys and values go round."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel


class Net(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(500, width), nn.Linear(width, 3 * width), nn.Linear(width, 500)

    def forward(self, x):
        b, t = x.shape
        q, k, v = (y.view(b, t, -1, 32).transpose(1, 2) for y in self.qkv(self.embed(x)).chunk(3, dim=-1))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, -1))


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
model = Net().cuda().half()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    x, y = (torch.randint(0, 500, (2, 384), device="cuda") for _ in range(2))
    with context_parallel(mesh, buffers=[x, y], buffer_seq_dims=[1, 1], no_restore_buffers={y}):
        F.cross_entropy(model(x).float().flatten(0, 1), y.flatten()).backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
