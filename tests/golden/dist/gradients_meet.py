"""Gradients of collectives that meet at one tensor; functional collectives refuse what is not contiguous."""
import os

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.distributed.nn.functional as through

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
world = dist.group.WORLD


def refused(function, *args):
    try:
        function(*args)
    except RuntimeError:
        return
    torch.empty(1 << 20, device="cuda")


x = torch.randn(64, 32, device="cuda", requires_grad=True)
for _ in range(2):
    gathered = funcol.all_gather_tensor_autograd(x, 0, world)
    summed = funcol.reduce_scatter_tensor_autograd(gathered * 2, "sum", 0, world)
    loss = (summed * 1).sum() + through.all_reduce(x).sum() + torch.cat(through.all_gather(x)).sum()
    loss.backward()
t = torch.randn(8, 64, device="cuda").t()
refused(funcol.reduce_scatter_tensor, t, "sum", 0, world)
refused(funcol.all_to_all_single, t, None, None, world)
refused(funcol.all_gather_tensor_autograd, t, 0, world)
print(funcol.all_reduce(t, "sum", world).is_contiguous(), (funcol.reduce_scatter_tensor(t, "sum", 1, world) + 1).shape)
dist.destroy_process_group()
