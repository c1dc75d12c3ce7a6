"""Reductions over dimensions, and the gradients of their gradients."""
import torch
import torch.nn.functional as F

d = "cuda"


def twice(f, *inputs):
    out = f(*inputs).pow(2).sum()
    grads = torch.autograd.grad(out, inputs, create_graph=True)
    total = sum(g.pow(2).sum() for g in grads)
    total.backward()
    del out, grads, total
    for each in inputs:
        each.grad = None


for shape, dim in (((40, 300), 1), ((8, 30, 70), 0), ((600,), 0)):
    x = torch.randn(*shape, device=d, requires_grad=True)
    for keepdim in (False, True):
        for f in (torch.sum, torch.mean, torch.var, torch.std, torch.prod):
            twice(lambda x: f(x, dim=dim, keepdim=keepdim), x)
    for f in (torch.sum, torch.mean, torch.var, torch.std):
        twice(f, x)
    if len(shape) == 3:
        for f in (torch.sum, torch.mean, torch.var, torch.std):
            twice(lambda x: f(x, dim=(0, 2)), x)
    x.argmax()
    x.argmax(dim, keepdim=True)
    x.half().sum(dim, dtype=torch.float32).sum().backward()
    torch.max(x, x.detach()).sum().backward()
    x.grad = None
a, b = (torch.randn(30, 200, device=d, requires_grad=True) for _ in range(2))
twice(lambda a, b: F.mse_loss(a, b), a, b)
twice(lambda a: F.binary_cross_entropy_with_logits(a, b.detach().sigmoid()), a)
with torch.autocast(d, dtype=torch.float16):
    h = (a @ b.t())
    for f in (torch.sum, torch.prod, torch.mean):
        f(h, 1).sum().backward(retain_graph=True)
