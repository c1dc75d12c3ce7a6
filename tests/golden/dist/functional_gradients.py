"""Functional collectives, which have gradients, and those into a tensor that is there."""
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
from torch import nn

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
every, world = dist.group.WORLD, dist.get_world_size()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = [nn.Linear(128, 128) for _ in range(4)]

    def forward(self, x):
        h = fc.all_reduce(self.a(x), "sum", every)
        h = fc.all_gather_tensor(nn.functional.relu(h), 0, every)
        h = nn.functional.gelu(fc.reduce_scatter_tensor(self.b(h), "sum", 0, every))
        h = fc.all_gather_tensor(h, 1, every)
        h = fc.reduce_scatter_tensor(h * 2, "sum", 1, every)
        h = fc.reduce_scatter_tensor_autograd(fc.all_gather_tensor_autograd(h.sin(), 0, every).cos(), "sum", 1, every)
        h = fc.all_to_all_single(self.c(h.reshape(-1, 128)), None, None, every)
        return self.d(h.view(-1, 128))


net = Net().cuda()
x = torch.randn(64, 128, device="cuda")
for _ in range(2):
    net(x).square().mean().backward()
    for p in net.parameters():
        p.grad = fc.all_reduce(p.grad, "avg", every)
buffer = torch.zeros(64 * world, 128, device="cuda")
fc.all_gather_tensor_inplace(buffer, x, every)
fc.all_reduce_inplace(x, "max", every)
fc.reduce_scatter_tensor_inplace(x, buffer, "sum", every)
fc.all_to_all_inplace(buffer, buffer * 2, None, None, every)
fc.all_gather_inplace([torch.empty_like(x) for _ in range(world)], x, every)
dist.destroy_process_group()
