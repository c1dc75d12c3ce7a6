"""Hooks that are called though forward, or another hook, raises."""
import torch, torch.nn as nn
class M(nn.Module):
    def __init__(self, bad):
        super().__init__(); self.l = nn.Linear(8, 8); self.bad = bad
    def forward(self, x, scale=1):
        if self.bad: raise ValueError("bad input")
        return self.l(x) * scale
def fails(m, args, out): raise RuntimeError("hook fails")
for bad in (False, True):
    m = M(bad)
    m.register_forward_hook(lambda m, a, out: print("plain", len(a), out is None))
    m.register_forward_hook(lambda m, a, k, out: print("always", sorted(k), out is None), with_kwargs=True, always_call=True)
    m.register_forward_hook(lambda m, a, out: print("first", len(a), out is None), prepend=True, always_call=True)
    if bad: m.register_forward_hook(fails, always_call=True)
    try:
        print(m(torch.zeros(2, 8), scale=2).shape)
    except ValueError as e:
        print("raised", e)
m = M(False)
m.register_forward_hook(fails)
m.register_forward_hook(lambda m, a, out: print("after", out.shape), always_call=True)
try:
    m(torch.zeros(2, 8))
except RuntimeError as e:
    print("raised", e)
