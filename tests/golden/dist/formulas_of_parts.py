"""Gradients of DTensors that are several operators each."""
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
RUN = [
    torch.acos, torch.acosh, torch.asin, torch.asinh, torch.atan, torch.atanh, torch.cosh, torch.sinh, torch.erf,
    torch.erfc, torch.erfinv, torch.digamma, torch.lgamma, torch.sinc, torch.nan_to_num, F.tanhshrink, F.softsign,
    lambda x: 2.0 ** x, lambda x: torch.fmax(x, x * 2),
    lambda x: torch.fmin(x, x * 2), lambda x: torch.addcdiv(x, x, x + 3, value=0.5), lambda x: torch.xlogy(x, x),
    lambda x: F.kl_div(x, x),
    lambda x: x.swapaxes(0, 1), lambda x: x.movedim(0, 1), lambda x: x.tile(1, 2),
    lambda x: x if x.placements[0].is_partial() else F.normalize(x, dim=-1),
    lambda x: x.argmax(-1),
]


def backward(make, placement):
    x = DTensor.from_local(torch.rand(8, 16, device="cuda"), mesh, [placement], run_check=False).requires_grad_()
    out = make(x)
    if out.requires_grad:
        out.float().sum().backward()


for placement in (Shard(0), Replicate(), Partial()):
    for make in RUN:
        backward(make, placement)
dist.destroy_process_group()
