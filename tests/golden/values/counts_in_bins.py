"""histc of numbers that are known: bins of equal width, the last with the end of the range."""

import torch

chosen = torch.tensor([0, 1, 1, 5, 7, 7, 7, 3], device="cuda")
print(torch.histc(chosen.float(), bins=8, min=0, max=7).tolist())
print(torch.histc(chosen.float(), bins=8, min=0, max=8).long().tolist())
print(torch.histc(chosen.double(), bins=3, min=1, max=6).int().tolist())
print(torch.histc(torch.arange(20.0) / 4, bins=4, min=0, max=3).sum().item())
