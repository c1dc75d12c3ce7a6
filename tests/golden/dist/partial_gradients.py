"""Gradients that are terms of sums, clipped and given to a fused optimizer; then a sharded model under a scaler."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width, bias=False), nn.SiLU(), nn.Linear(4 * width, width, bias=False))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layer = nn.Embedding(512, 128), Layer(128)
        self.norm, self.head = nn.RMSNorm(128), nn.Linear(128, 512, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.layer(self.embed(tokens))))


def tensor_parallel(mesh):
    model = Model().cuda()
    whole = PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),))
    plan = {
        "embed": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "layer.norm": SequenceParallel(),
        "norm": SequenceParallel(),
        "layer.mlp": whole,
        "layer.mlp.0": ColwiseParallel(),
        "layer.mlp.2": RowwiseParallel(output_layouts=Shard(1)),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
    }
    parallelize_module(model, mesh, plan)
    return model


def main():
    mesh = init_device_mesh("cuda", (2,))
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    tokens = torch.randint(0, 512, (4, 32), device="cuda")
    for fused in (False, True):
        model = tensor_parallel(mesh)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=fused)
        for _ in range(2):
            nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
            if not fused:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        del model, optimizer
    model = FullyShardedDataParallel(nn.Sequential(nn.Linear(100, 300), nn.ReLU(), nn.Linear(300, 10)).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = ShardedGradScaler()
    for _ in range(2):
        with torch.autocast("cuda", torch.float16, cache_enabled=False):
            loss = model(torch.randn(16, 100, device="cuda")).square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


main()
