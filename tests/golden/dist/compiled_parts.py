"""Feed-forward networks by columns and rows, each compiled: sums over ranks in compiled code, a bias that is shared out."""

import os
import torch, torch.distributed as dist, torch.nn as nn, torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))

class MLP(nn.Module):
    def __init__(self, d=512):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    def forward(self, x):
        return self.down(F.gelu(self.up(x)))

torch.manual_seed(0)
model = nn.Sequential(MLP(), MLP()).cuda()
for m in model:
    parallelize_module(m, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
for i in range(len(model)):
    model[i] = torch.compile(model[i])
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(64, 512, device="cuda")
    loss = model(x).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
dist.destroy_process_group()
