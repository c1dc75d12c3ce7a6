# A property that raises an AttributeError leaves the name to __getattr__; decorators of modes keep a function's texts;
# kinds of trees are in a table that libraries read.
from collections import OrderedDict, defaultdict, deque, namedtuple

import torch
from torch import nn
from torch.utils._pytree import SUPPORTED_NODES, tree_flatten, tree_unflatten


class W(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.original = m
        self.adapter = nn.Linear(self.original.in_features, 2)
        self.original = None
        print(type(self.original).__name__)
    @property
    def original(self):
        return self.adapter
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            pass
        raise AttributeError(f"no {name}")
W(nn.Linear(3, 4))
class P:
    @property
    def a(self):
        return self.zzz

    def __getattr__(self, n):
        if n == "a":
            return 5
        raise AttributeError(n)
print(P().a)
@torch.no_grad()
def f(x):
    r"""Says
    so."""
    return x
print(f.__doc__, f.__name__)
@torch.inference_mode()
def f(x):
    "doc"
print(f.__doc__, f.__name__)
@torch.autocast("cpu")
def f(x):
    "doc"
print(f.__doc__)
@torch.enable_grad()
def f(x):
    "doc"
print(f.__doc__)
flat, spec = tree_flatten({"a": 1, "b": [2, (3,)]})
print(flat, tree_unflatten([5, 6, 7], spec))
Pair = namedtuple("Pair", "x y")
d = defaultdict(list)
d["k"].append(1)
tree = OrderedDict(p=Pair(1, {"z": (2, 3)}), q=deque([4, 5], 7), r=d, s=None)
flat, spec = tree_flatten(tree)
back = tree_unflatten([x if x is None else x + 10 for x in flat], spec)
print(flat, back["p"], back["q"], dict(back["r"]), back["s"], type(back).__name__)
print(dict in SUPPORTED_NODES, set in SUPPORTED_NODES, SUPPORTED_NODES[list].flatten_fn([1, 2])[0])
