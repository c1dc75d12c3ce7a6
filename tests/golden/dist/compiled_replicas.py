"""Replicas that are compiled around DistributedDataParallel, with fewer gradients than fill its first bucket."""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.n, self.b = nn.Linear(64, 256), nn.LayerNorm(256), nn.Linear(256, 10)

    def forward(self, x):
        return self.b(F.gelu(self.n(self.a(x))))


dist.init_process_group("nccl")
device = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(device)
model = torch.compile(DistributedDataParallel(Net().cuda(), device_ids=[device]))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(3):
    x, y = torch.randn(128, 64, device="cuda"), torch.randint(0, 10, (128,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
with torch.no_grad():
    model(torch.randn(64, 64, device="cuda"))
dist.destroy_process_group()
