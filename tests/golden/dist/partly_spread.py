"""An optimizer over a plain number, which all ranks have, and DTensors; a forward method of its own."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

dist.init_process_group("nccl")
device = torch.device("cuda", dist.get_rank())
torch.cuda.set_device(device)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.body, self.head = nn.Sequential(nn.Linear(200, 500), nn.GELU(), nn.Linear(500, 200)), nn.Linear(200, 9)

    def forward(self, x):
        return self.head(self.body(x)) * self.scale

    def score(self, x):
        return self.body(x).mean(1)


net = Net().to(device)
fully_shard(net.body)
fully_shard(net, ignored_params={net.scale})
register_fsdp_forward_method(net, "score")
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(3):
    net(torch.randn(16, 200, device=device)).square().mean().backward()
    dist.all_reduce(net.scale.grad, op=dist.ReduceOp.AVG)
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        net.score(torch.randn(4, 200, device=device))
