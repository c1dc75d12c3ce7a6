"""Layouts over dimensions of a mesh of which the program has made one: steps of one kind are one; and a mesh of which one dimension has one rank."""
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.distributed.fsdp import fully_shard

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
whole, two = [Replicate()] * 2, [Shard(0)] * 2
x = torch.randn(64, 24, device="cuda")


def go(mesh, given, before, after):
    DTensor.from_local(given, mesh, before, run_check=False).redistribute(placements=after).to_local().sum()


def every(mesh, pair):
    for before, after in (
        ([Partial()] * 2, whole), (two, whole), ([Partial()] * 2, two), ([Partial("avg"), Partial()], whole),
        ([Shard(0), Shard(1)], whole), ([Partial()] * 2, [Shard(0), Shard(1)]), ([Partial("avg")] * 2, two),
        (whole, [Shard(1)] * 2), ([Partial("max")] * 2, whole),
    ):
        go(pair, x, before, after)
    go(pair, x[:30, :7].clone(), [Partial()] * 2, two)
    for before in ([Partial()] * 3, [Shard(0)] * 3, [Partial(), Shard(0), Partial()]):
        go(mesh, x, before, [Replicate()] * 3)


mesh = init_device_mesh("cuda", (2, 2, 2), mesh_dim_names=("a", "b", "c"))
pair = mesh["a", "b"]
every(mesh, pair)
for part in (pair, mesh, mesh["b", "c"]):
    part._flatten("_".join(part.mesh_dim_names))
    every(mesh, pair)
alone = init_device_mesh("cuda", (1, 8), mesh_dim_names=("dp", "tp"))
for before, after in ((two, whole), ([Partial()] * 2, [Replicate(), Shard(0)]), ([Shard(0), Replicate()], [Shard(0), Shard(1)]), (whole, two)):
    go(alone, x, before, after)
grid = init_device_mesh("cuda", (4, 2), mesh_dim_names=("dp", "tp"))  # parts of parts: who divided last gathers first
net = torch.nn.Sequential(torch.nn.Linear(192, 192), torch.nn.Linear(192, 192, bias=False)).cuda()
parallelize_module(net, grid["tp"], {"0": ColwiseParallel(), "1": RowwiseParallel()})
fully_shard(net, mesh=grid["dp"])
for p in net.parameters():
    p.full_tensor()
dist.destroy_process_group()
