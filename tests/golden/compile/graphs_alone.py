"""CUDA graphs of a network that is evaluated."""

import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(784, 1024), nn.GELU(), nn.LayerNorm(1024), nn.Linear(1024, 16)).cuda().eval()
compiled = torch.compile(model, options={"triton.cudagraphs": True})
with torch.no_grad():
    for _ in range(4):
        chosen = compiled(torch.randn(512, 784, device="cuda")).argmax(-1)
