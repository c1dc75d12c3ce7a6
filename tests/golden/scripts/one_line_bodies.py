"""Division by a parameter, and generators whose yields stand on the line of what they are in."""
import contextlib

import torch
from torch import nn




p = nn.Parameter(torch.randn(8, device="cuda"))
x = torch.randn(8, 8, device="cuda")
y = x / p
y.sum().backward()
z = p / x
w = x.requires_grad_() / p
w.sum().backward()
del y, z, w


class Left:
    def __truediv__(self, other): return "left"
    def __rtruediv__(self, other): return "left reflected"


class Same(Left): pass


class Own(Left):
    def __rtruediv__(self, other): return "own reflected"


print(Left() / Same(), "|", Left() / Own(), "|", Own() / Left(), "|", 2 / Same())


class Holder:
    @contextlib.contextmanager
    def held(self, model):
        kept = torch.zeros(64, device="cuda")
        try: yield model
        finally: kept = None


with Holder().held(3) as m: print(m)


def several(n):
    for i in range(n): yield i
    while n: n -= 1; yield n
    if n == 0: yield "zero"
    else: yield "other"
    with contextlib.nullcontext(): yield "with"
    try: yield "try"
    except ValueError: yield "except"


def batches(n):
    for i in range(n): x = torch.zeros(2 ** (9 + i), device="cuda"); yield x


print(list(several(2)))
for b in batches(3): total = b.sum()
