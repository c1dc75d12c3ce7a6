# Tensors among a region's positional and keyword arguments, which nobody else keeps: which goes
# first when the region's saved inputs end, in backward or without one.
import torch
from torch.utils.checkpoint import checkpoint

lin = torch.nn.Linear(64, 64, device="cuda")
mix = torch.nn.Linear(64, 64, device="cuda")


def block(x, pair=None, rope=None, mask=None):
    y = lin(x)
    if pair is not None:
        y = y * pair[0] + pair[1]
    if rope is not None:
        y = y * rope
    if mask is not None:
        y = y + mask["m"]
    return torch.relu(mix(y))


def drawn(rows):
    return torch.randn(rows, 64, device="cuda")


def outer(x, rope=None):
    return checkpoint(block, x, rope=rope, mask={"m": drawn(3000)}, use_reentrant=False) + 1


def named():
    return checkpoint(block, lin(drawn(3000)), rope=drawn(3000), mask={"m": drawn(3000)}, use_reentrant=False)


def placed():
    return checkpoint(block, lin(drawn(3000)), (drawn(3000), drawn(3000)), drawn(3000), use_reentrant=False)


def both():
    return checkpoint(block, lin(drawn(3000)), (drawn(3000), drawn(1)), rope=drawn(3000), use_reentrant=False)


def nested():
    return checkpoint(outer, lin(drawn(3000)), rope=drawn(3000), use_reentrant=False)


def reentrant():
    return checkpoint(block, lin(drawn(3000)), (drawn(3000), drawn(3000)), drawn(3000), use_reentrant=True)


def whole():
    return checkpoint(block, lin(drawn(3000)), rope=drawn(3000), use_reentrant=False, early_stop=False)


for region in (named, placed, both, nested, reentrant, whole):
    region().sum().backward()
    region()
    with torch.no_grad():
        region()
    y = region().sum()
    y.backward(retain_graph=region is reentrant)
    del y
