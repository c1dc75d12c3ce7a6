"""Gradients of DTensors that are several operators each, where the gradient that comes in lies whole on every rank."""
import os
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Replicate, Shard, init_device_mesh

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))

OPERATORS = (
    lambda x: x.clamp(-1, 1), lambda x: x.clamp(min=0.1), lambda x: x.clamp_min(0.2), lambda x: x.clamp_max(0.3), lambda x: x.exp2(),
    lambda x: torch.where(x > 0, x, 0.0), lambda x: torch.where(x > 0, 1.0, x), lambda x: torch.where(x > 0, x, x * 2),
    lambda x: torch.addcmul(x, x, x, value=0.5), lambda x: torch.addcmul(x, x * 2, x + 1), lambda x: torch.lerp(x, x * 2, x), lambda x: torch.lerp(x, x * 2, 0.3),
    lambda x: torch.hypot(x, x), lambda x: torch.logaddexp(x, x * 3), lambda x: torch.einsum("ij,kj->ik", x, x), lambda x: x.sum(0) * x,
)
for placement in (Shard(0), Shard(1), Replicate()):
    for made in OPERATORS:
        x = DTensor.from_local(torch.rand(12, 16, device="cuda"), mesh, [placement], run_check=False).requires_grad_()
        made(x).sum().backward()
        del x
dist.destroy_process_group()
