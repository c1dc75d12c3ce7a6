"""Small cases: a transposed gradient, graphs run twice, frozen parameters, inputs as results, no gradients; by aot_eager."""
import torch
import torch.nn as nn

m = nn.Sequential(nn.Linear(64,64), nn.Tanh(), nn.Linear(64,64)).cuda()
for p in m[0].parameters(): p.requires_grad_(False)
f = torch.compile(m, backend="aot_eager")
x = torch.randn(32, 64, device="cuda", requires_grad=True)
y = f(x)
loss = (y.t() * torch.randn(64, 32, device="cuda")).sum()
loss.backward(retain_graph=True)
loss.backward()
try:
    loss.backward()
except RuntimeError as e:
    print("second")
g = torch.autograd.grad(f(x).sum(), x)
@torch.compile(backend="aot_eager")
def two(a, b):
    return a, a.view(-1), (a + b).relu(), [a * 2, {"k": b}]
o = two(torch.randn(16, 16, device="cuda"), x[:16, :16])
o[2].sum().backward()
del o
with torch.inference_mode():
    z = f(x)
