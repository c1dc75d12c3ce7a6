"""Modules in DistributedDataParallel that give their buffers anew: what is sent lives until the next call sends others."""
import os
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("nccl")
local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(64, 300), nn.BatchNorm1d(300), nn.ReLU(), nn.Linear(300, 200))
        self.register_buffer("queue", torch.zeros(500, 200))
        self.register_buffer("center", torch.zeros(1, 200), persistent=False)
    def forward(self, x):
        y = F.normalize(self.f(x), dim=1)
        logits = (y - self.center) @ self.queue.t()
        with torch.no_grad():
            self.queue = torch.cat([self.queue[len(y):], y.detach()])
            self.center = self.center * 0.9 + y.mean(0, keepdim=True) * 0.1
        return logits
for sends in (True, False):
    ddp = DDP(Net().to(local), device_ids=[local], broadcast_buffers=sends)
    opt = torch.optim.Adam(ddp.parameters(), 1e-3)
    for step in range(4):
        ddp(torch.randn(16, 64, device=local)).logsumexp(1).mean().backward()
        opt.step()
        opt.zero_grad()
    ddp.eval()
    with torch.no_grad():
        ddp(torch.randn(16, 64, device=local))
    ddp.train()
    with ddp.no_sync():
        ddp(torch.randn(16, 64, device=local)).mean().backward()
    ddp(torch.randn(16, 64, device=local)).mean().backward()
    del ddp, opt
dist.destroy_process_group()
