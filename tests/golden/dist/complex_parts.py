"""Complex numbers as DTensors: rotary embeddings, products and quotients, whose gradients conjugate the other factor."""
import os
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, init_device_mesh

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))

frequencies = torch.polar(torch.ones(48, 16), torch.randn(48, 16)).cuda()
frequencies = DTensor.from_local(frequencies, mesh, [Replicate()], run_check=False)


def rotated(x):
    turned = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(turned * frequencies.view(1, 48, 1, 16)).flatten(3).type_as(x)


def complex_numbers(placement, size):
    numbers = torch.view_as_complex(torch.randn(size, 24, 2, device="cuda"))
    return DTensor.from_local(numbers, mesh, [placement], run_check=False).requires_grad_()


for dtype in (torch.float32, torch.bfloat16):
    local = torch.randn(2, 48, 4, 32, device="cuda", dtype=dtype)
    heads = DTensor.from_local(local, mesh, [Shard(2)], run_check=False).requires_grad_()
    rotated(heads).sum().backward()
    del heads, local

for placement in (Shard(0), Replicate(), Shard(1)):
    for made in (
        lambda a, b: a * b, lambda a, b: a / b, lambda a, b: (a * b).abs(), lambda a, b: (a - 2 * b).real, lambda a, b: (a + b).imag,
        lambda a, b: a.sin() * b.cos(), lambda a, b: a.sqrt() / b, lambda a, b: a.reciprocal(),
    ):
        a, b = complex_numbers(placement, 40), complex_numbers(placement, 40)
        out = made(a, b)
        real = torch.view_as_real(out) if out.is_complex() else out
        real.sum().backward()
        del a, b, out, real
dist.destroy_process_group()
