"""Experts as parameters that a style of one's own shares among ranks, tokens by the functional collectives, under
fully_shard; hooks that hand other arguments on."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed._functional_collectives import all_to_all_single, all_to_all_single_autograd
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ParallelStyle, parallelize_module

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2), mesh_dim_names=("dp", "ep"))
EXPERTS, WIDTH, HIDDEN = 4, 128, 256


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Parameter(torch.randn(EXPERTS, HIDDEN, WIDTH) * 0.02)
        self.down = nn.Parameter(torch.randn(EXPERTS, WIDTH, HIDDEN) * 0.02)

    def forward(self, x, counts):
        up, down = self.up.to_local(), self.down.to_local()
        x = F.silu(torch.bmm(x.view(up.shape[0], -1, WIDTH), up.transpose(-2, -1)))
        return torch.bmm(x, down.transpose(-2, -1)).reshape(-1, WIDTH)


class Shared(ParallelStyle):
    def _apply(self, module, mesh):
        def part(name, module, mesh):
            for name, parameter in list(module.named_parameters(recurse=False)):
                module.register_parameter(name, nn.Parameter(distribute_tensor(parameter, mesh, [Shard(0)])))

        def sent(module, inputs, mesh):
            x, counts = inputs
            with torch.no_grad():
                counts = all_to_all_single(counts, None, None, group=mesh.get_group())
                counts = torch.ops._c10d_functional.wait_tensor(counts)
            splits = [x.shape[0] // mesh.size()] * mesh.size()
            return all_to_all_single_autograd(x, splits, splits, mesh.get_group()), counts

        def back(module, x, mesh):
            splits = [x.shape[0] // mesh.size()] * mesh.size()
            return all_to_all_single_autograd(x, splits, splits, mesh.get_group())

        return distribute_module(module, mesh, part, sent, back)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.experts, self.head = nn.Embedding(500, WIDTH), Experts(), nn.Linear(WIDTH, 500)

    def forward(self, ids):
        x = self.embed(ids).flatten(0, 1)
        return self.head(x + self.experts(x, torch.ones(EXPERTS, device=x.device)))


model = Net().cuda()
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
parallelize_module(model.experts, mesh["ep"], Shared())
fully_shard(model.experts, mesh=mesh["dp"], mp_policy=policy)
fully_shard(model, mesh=mesh["dp", "ep"]._flatten("all"), mp_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
for step in range(2):
    ids = torch.randint(0, 500, (4, 64), device="cuda")
    F.cross_entropy(model(ids).float(), ids.flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
