"""Nodes of autograd's graph: who leads to whom, what hooks before them see, gradients asked for at edges."""
import torch
from torch import nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

w = nn.Parameter(torch.ones(3, 4))
b = nn.Parameter(torch.ones(3))
x = torch.ones(2, 4, requires_grad=True)
y = nn.functional.linear(x, w, b)
z = torch.relu(y)
print(z.grad_fn.name(), y.grad_fn.name(), x.grad_fn)
print([(n.name(), i) for n, i in y.grad_fn.next_functions])
acc = w.view_as(w).grad_fn.next_functions[0][0]
print(acc.name(), acc.variable is w, acc is w.view_as(w).grad_fn.next_functions[0][0], len({acc, acc}))
print(y.grad_fn == z.grad_fn.next_functions[0][0], y.grad_fn != z.grad_fn)
print((x * 2.0).grad_fn.next_functions[1:], torch.ones(1).grad_fn)

kept = []
handle = y.grad_fn.register_prehook(lambda grads: kept.append(grads))
dx, = torch.autograd.grad([z], [x], grad_outputs=[torch.ones_like(z)], retain_graph=True)
handle.remove()
print(tuple(dx.shape), w.grad is None, [tuple(g.shape) for g in kept[0]])
edges = tuple(GradientEdge(n, 0) for n, _ in y.grad_fn.next_functions[:1])
db, = torch.autograd.grad([GradientEdge(y.grad_fn, 0)], edges, grad_outputs=[kept[0][0]], retain_graph=True)
print(tuple(db.shape), b.grad is None)
twice = y.grad_fn.register_prehook(lambda grads: tuple(g * 2 for g in grads))
z.sum().backward()
print(len(kept), tuple(b.grad.shape), get_gradient_edge(z).output_nr, get_gradient_edge(b).node.name())
try:
    get_gradient_edge(torch.ones(1))
except RuntimeError as e:
    print(type(e).__name__)
try:
    y.grad_fn.variable
except AttributeError as e:
    print(type(e).__name__)
