"""Gradients of torch.autograd.grad that the program drops at once: they go then, or as the next backward pass begins."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 2048)).cuda()
x = torch.randn(64, 2048, device="cuda")
loss, other = model(x).sum(), model(x).sum()
gradients = torch.autograd.grad(loss, list(model.parameters()))
del gradients
room = torch.empty(6 << 20, device="cuda")
other.backward()
