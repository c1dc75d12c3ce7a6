"""Gradients of the gradients of softmax and log_softmax, from halves to float32 and from float32."""
import torch
import torch.nn.functional as F

for dtype in (torch.half, torch.float):
    x = torch.randn(300, 700, device="cuda", dtype=dtype, requires_grad=True)
    for f in (F.log_softmax, F.softmax):
        y = f(x, -1, dtype=torch.float32)
        g, = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
        g.float().pow(2).sum().backward()
        del y, g
        x.grad = None
