"""A device without an index, made before the process has chosen its own: it is the one that is current when it is used."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel as DDP

device = torch.device("cuda")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = nn.Sequential(nn.Linear(200, 300), nn.LayerNorm(300), nn.Linear(300, 200)).to(device)
for layer in model:
    fully_shard(layer)
fully_shard(model)
copy = DDP(nn.Linear(200, 100, device=device), device_ids=[device])
x = torch.zeros(16, 200, device=device)
if x.device != device:
    x = x.to(device)
y = copy(model(x))
y.sum().backward()
print(device, repr(device), device.index, x.device == device, device == torch.device("cuda"), device == torch.device("cuda", 0), y.device)
print({device: 1}.get(torch.device("cuda")), torch.empty(3, device=torch.device("cuda", 1)).device, torch.cuda.memory_allocated(device))
with torch.device(device):
    z = torch.ones(500)
dist.destroy_process_group()
