"""torch.autograd.grad: what it refuses, and with which words."""
import torch

p = [torch.randn(3, device="cuda", requires_grad=True) for _ in range(2)]
g = [torch.randn(3, device="cuda") for _ in range(2)]
asked = (
    lambda: torch.autograd.grad(g, p, grad_outputs=g),
    lambda: torch.autograd.grad(g, p, grad_outputs=g, only_inputs=True, retain_graph=True),
    lambda: torch.autograd.grad([p[0].sum(), g[0].sum()], p),
    lambda: torch.autograd.grad([p[0].sum()], g),
    lambda: torch.autograd.grad([p[0].sum()], p[1]),
    lambda: torch.autograd.grad(p[0], p[0], grad_outputs=g[0])[0].shape,
    lambda: torch.autograd.backward(g),
    lambda: torch.autograd.backward([p[0].sum(), g[0].sum()]),
    lambda: torch.autograd.backward([p[0]], [g[0][:2]]),
    lambda: torch.autograd.grad([], p),
    lambda: torch.autograd.grad(p[0].sum(), []),
    lambda: torch.autograd.grad(p[0].sum(), p, allow_unused=True)[1],
    lambda: torch.autograd.grad(p[0].sum(), p, materialize_grads=True)[1].shape,
    lambda: torch.autograd.grad([p[0].sum(), p[1].sum()], p, grad_outputs=[None])[1],
    lambda: torch.autograd.grad(p[0] * 2, p[:1], grad_outputs=g[0][:2])[0],
    lambda: torch.autograd.grad(p[0] * 2, p[:1]),
)
for ask in asked:
    try:
        print(ask())
    except Exception as error:
        print(type(error).__name__, error)
