"""Products with Jacobians and Hessians by torch.autograd.functional, of modules and of several tensors.

Recorded with a wait of 20 ms after each torch.autograd.grad: without it the engine's thread may still hold what it gave."""
import torch
import torch.nn as nn
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 96), nn.Tanh(), nn.Linear(96, 6)).cuda()
x = torch.randn(1, 8, device="cuda")
pair = (torch.randn(300, device="cuda"), torch.randn(300, device="cuda"))


def energy(a, b):
    return (a.pow(2) * b.sin()).sum()


j = jacobian(net, x)
print(j.shape, j.requires_grad)
j = jacobian(net, x.requires_grad_(), create_graph=True)
j.pow(2).sum().backward()
print(j.shape, j.requires_grad)
y, v = vjp(net, x, torch.randn(1, 6, device="cuda"))
print(y.shape, v.shape, y.requires_grad)
y, v = jvp(net, x, torch.randn(1, 8, device="cuda"))
print(y.shape, v.shape)
y, v = jvp(energy, pair, pair)
y, v = vjp(lambda a, b: (a * b, b), pair, pair)
print([t.shape for t in y], [t.shape for t in v])
y, v = hvp(energy, pair, pair, create_graph=True)
print(y.shape, [t.shape for t in v])
y, v = vhp(energy, pair, pair)
print(y.shape, [t.shape for t in v])
h = hessian(energy, (pair[0][:5], pair[1][:4].sum()))
print([[t.shape for t in row] for row in h])
h = hessian(lambda a: a.pow(3).sum(), pair[0][:6])
print(h.shape)
y, v = vjp(lambda a, b: a.sum(), pair)
print(y.shape, [t.shape for t in v])
del j, y, v, h
big = torch.empty(700, 700, device="cuda")
