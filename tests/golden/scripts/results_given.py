"""Results written into tensors given as out=, and what that refuses."""
import torch
a, b = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda")
o = torch.empty(64, 64, device="cuda")
torch.add(a, b, out=o); torch.mul(a, 2.0, out=o); torch.sub(a, b, alpha=2, out=o); torch.div(a, b, out=o); torch.exp(a, out=o); torch.nan_to_num(a, nan=0.0, out=a)
torch.maximum(a, b, out=o); torch.sqrt(a, out=a); torch.pow(a, 2, out=o); torch.clamp(a, 0, 1, out=o); torch.sigmoid(a, out=o)
r = torch.tanh(a, out=o)
print(r is o)
h = torch.empty(64, 64, device="cuda", dtype=torch.half)
torch.add(a, b, out=h)
torch.add(a.half(), b, out=o)
e = torch.empty(64, 64, device="cuda")
torch.mul(a, b, out=e)
m = torch.empty(64, 64, device="cuda", dtype=torch.bool)
torch.gt(a, b, out=m)
torch.mul(a[:, :1], b, out=o)
with torch.autocast("cuda"): torch.mul(a, h, out=o)
p = torch.randn(64, 64, device="cuda", requires_grad=True)
with torch.no_grad(): torch.mul(p, 2, out=p)
try: torch.mul(p, 2, out=o)
except RuntimeError as x: print(x)
c = torch.randn(64, 64, device="cuda", dtype=torch.double)
torch.mul(a, c, out=o)
torch.abs(a.t(), out=o)


class Cached(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None
        try: self.register_buffer("cache", torch.zeros(4))
        except KeyError as x: print(x)


Cached()
