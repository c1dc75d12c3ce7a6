"""A whole transformer built on the device: what its layers are copied from lives until all are made."""
import torch
from torch import nn

model = nn.Transformer(64, 4, 2, 2, 128, device="cuda")
out = model(torch.randn(5, 2, 64, device="cuda"), torch.randn(6, 2, 64, device="cuda"))
out.sum().backward()
print(torch.cuda.memory_allocated())
