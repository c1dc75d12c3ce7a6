"""Tensors in two places: what PyTorch refuses, in its words, and what it lets pass."""
import torch
import torch.nn.functional as F


def gpu(*size):
    return torch.zeros(size, device="cuda")


def host(*size):
    return torch.zeros(size)


def tell(name, call):
    try:
        print(name, "on", call().device)
    except RuntimeError as e:
        print(name, "->", e)


for a, b in ((gpu, host), (host, gpu)):
    tell("conv2d", lambda: F.conv2d(a(2, 3, 8, 8), b(4, 3, 3, 3)))
    tell("conv2d, its bias", lambda: F.conv2d(a(2, 3, 8, 8), a(4, 3, 3, 3), b(4)))
    tell("linear", lambda: F.linear(a(2, 3), b(4, 3)))
    tell("linear with bias", lambda: F.linear(a(2, 3), b(4, 3), b(4)))
    tell("mm", lambda: a(2, 3) @ b(3, 4))
    tell("bmm", lambda: torch.bmm(a(2, 2, 3), b(2, 3, 4)))
    tell("embedding", lambda: F.embedding(a(3).long(), b(10, 4)))
    tell("batch_norm", lambda: F.batch_norm(a(2, 3, 4, 4), b(3), b(3), b(3), b(3), training=True))
    tell("layer_norm", lambda: F.layer_norm(a(2, 3), (3,), b(3), b(3)))
    tell("group_norm", lambda: F.group_norm(a(2, 4, 3), 2, b(4), b(4)))
    tell("add", lambda: a(2) + b(2))
    tell("mul_", lambda: a(2).mul_(b(2)))
    tell("cat", lambda: torch.cat([a(2), b(2)]))
    tell("stack", lambda: torch.stack([a(2), b(2)]))
    tell("cross_entropy", lambda: F.cross_entropy(a(2, 3), b(2).long()))
    tell("mse_loss", lambda: F.mse_loss(a(2), b(2)))
    tell("index_select", lambda: a(4).index_select(0, b(2).long()))
    tell("gather", lambda: a(4).gather(0, b(2).long()))
tell("a number on the host", lambda: gpu(2) + torch.tensor(0.0))
tell("indices on the host", lambda: gpu(4)[host(2).long()])
