"""DistributedDataParallel that leaves parameters out, reduces some late, has limits of its own for buckets, skips buckets of unused
parameters; models that go one after another, of which no optimizer knows the parameters any more."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(400, 96), nn.BatchNorm1d(96)
        self.up, self.down = nn.Linear(96, 400), nn.Linear(400, 96)
        self.spare = nn.Linear(96, 700)

    def forward(self, x):
        h = self.embed(x)
        h = h + self.down(F.gelu(self.up(self.norm(h.transpose(1, 2)).transpose(1, 2))))
        return h.mean(1)


def train(ddp, steps=3):
    optimizer = torch.optim.SGD(ddp.parameters(), 0.1)
    for _ in range(steps):
        ddp(torch.randint(0, 400, (4, 30), device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def without_spare():
    net = Net().cuda()
    net.spare = None
    return net


net = without_spare()
DDP._set_params_and_buffers_to_ignore_for_model(net, ["up.weight", "norm.running_mean"])
ddp = DDP(net, device_ids=[local], bucket_cap_mb=1)
train(ddp)
del net, ddp
ddp = DDP(without_spare(), device_ids=[local], bucket_cap_mb_list=[0.01, 0.2, 1])
train(ddp)
del ddp
net = without_spare()
late = [(n, p) for n, p in net.named_parameters() if "norm" in n or n == "down.bias"]
ddp = DDP(net, device_ids=[local], delay_all_reduce_named_params=late, param_to_hook_all_reduce=net.up.weight)
train(ddp)
for _, p in late:
    p.grad = None
late[0][1].grad = torch.zeros_like(late[0][1])
ddp(torch.randint(0, 400, (4, 30), device="cuda")).square().mean().backward()
del net, ddp, late, p
ddp = DDP(Net().cuda(), device_ids=[local], find_unused_parameters=True, bucket_cap_mb=0.05, skip_all_reduce_unused_params=True)
train(ddp)
dist.destroy_process_group()
