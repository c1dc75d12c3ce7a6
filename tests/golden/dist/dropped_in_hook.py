"""Gradients that a hook copies into a bucket and sets to None: their memory is free for what the hook makes next."""
import os
import torch
import torch.distributed as dist
import torch.nn as nn

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
world = dist.get_world_size()
net = nn.Sequential(nn.Linear(300, 700), nn.ReLU(), nn.Linear(700, 300)).cuda()


def reduce(parameter):
    size = -(-parameter.numel() // world) * world
    whole = torch.zeros(size, device="cuda")
    whole[:parameter.numel()].copy_(parameter.grad.view(-1))
    parameter.grad = None
    parameter.part = torch.empty(size // world, device="cuda")
    dist.reduce_scatter_tensor(parameter.part, whole)


for parameter in net.parameters():
    parameter.register_post_accumulate_grad_hook(reduce)
for step in range(2):
    net(torch.randn(16, 300, device="cuda")).square().mean().backward()
dist.destroy_process_group()
