"""Norms over a dimension that lies in parts, where no gradient is wanted: with weights and without; and coalesced collectives that the group's end lets go of."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
mesh, world = init_device_mesh("cuda", (3,)), dist.get_world_size()
x = distribute_tensor(torch.randn(12, 24, device="cuda"), mesh, [Shard(1)])
weight, bias = [distribute_tensor(torch.randn(24, device="cuda"), mesh, [Replicate()]) for _ in range(2)]
for _ in range(2):
    y = F.layer_norm(x, (24,))
    y = F.layer_norm(x, (24,), weight, bias)
    y = F.rms_norm(x, (24,))
    y = F.rms_norm(x, (24,), weight)
    y = F.layer_norm(x.redistribute(placements=[Shard(0)]), (24,), weight)
wanted = weight.detach().requires_grad_()
F.layer_norm(x, (24,), wanted).sum().backward()
with torch.no_grad():
    y = F.rms_norm(x, (24,), wanted)
with dist._coalescing_manager(device=torch.device("cuda", torch.cuda.current_device()), async_ops=True) as together:
    outs = [torch.empty(world * 50, device="cuda") for _ in range(3)]
    for out in outs:
        dist.all_gather_into_tensor(out, torch.ones(50, device="cuda"))
together.wait()
del together, outs, out, x, y, weight, bias, wanted
dist.destroy_process_group()
