"""CUDA graphs of compiled code: two networks behind each other, trained."""

import torch
import torch.nn as nn
import torch.nn.functional as F

first = nn.Sequential(nn.Linear(128, 512), nn.SiLU(), nn.Linear(512, 256)).cuda()
second = nn.Sequential(nn.LayerNorm(256), nn.Linear(256, 512), nn.SiLU(), nn.Linear(512, 64)).cuda()
one = torch.compile(first, mode="reduce-overhead")
two = torch.compile(second, mode="reduce-overhead")
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], fused=True)
target = torch.randn(1024, 64, device="cuda")
for _ in range(5):
    loss = F.mse_loss(two(one(torch.randn(1024, 128, device="cuda"))), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
