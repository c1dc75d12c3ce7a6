"""Tensor parallel blocks under DistributedDataParallel on a mesh of two dimensions; a full state distributed to two models, the second on the
host: what the first took are DTensors by then."""
import os
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, PrepareModuleInput, SequenceParallel, loss_parallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n, self.up, self.gate, self.down = nn.RMSNorm(d), nn.Linear(d, 4 * d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    def forward(self, x):
        h = self.n(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))
class Net(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.conv, self.blocks, self.head = nn.Conv1d(16, d, 5, padding=2), nn.ModuleList(Block(d) for _ in range(3)), nn.Linear(d, 400)
    def forward(self, x):
        x = self.conv(x).transpose(1, 2)
        for b in self.blocks:
            x = b(x)
        return self.head(x)
net = Net().cuda()
plan = {}
for i in range(3):
    plan.update({f"blocks.{i}.up": ColwiseParallel(), f"blocks.{i}.gate": ColwiseParallel(), f"blocks.{i}.down": RowwiseParallel()})
parallelize_module(net, mesh["tp"], plan)
ddp = DDP(net, device_mesh=mesh["dp"], gradient_as_bucket_view=True)
opt = torch.optim.AdamW(ddp.parameters(), 1e-3)
for step in range(3):
    x = torch.randn(4, 16, 50, device="cuda")
    y = torch.randint(0, 400, (4, 50), device="cuda")
    loss = F.cross_entropy(ddp(x).flatten(0, 1), y.flatten(), label_smoothing=0.1)
    loss.backward()
    nn.utils.clip_grad_value_(ddp.parameters(), 0.1)
    opt.step()
    opt.zero_grad()
state = ddp.state_dict()
ddp.load_state_dict({k: v.clone() for k, v in state.items()})
del state

from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard


def offloaded():
    with torch.device("meta"):
        made = nn.Sequential(nn.Linear(40, 80), nn.ReLU(), nn.Linear(80, 40))
    made = fully_shard(made, offload_policy=CPUOffloadPolicy())
    return made.to_empty(device="cpu")


whole = nn.Sequential(nn.Linear(40, 80), nn.ReLU(), nn.Linear(80, 40)).state_dict()
first, second = offloaded(), offloaded()
for model in (first, second):
    set_model_state_dict(model, whole, options=StateDictOptions(full_state_dict=True))
del whole
second(torch.randn(4, 40, device="cuda")).sum().backward()
dist.destroy_process_group()
