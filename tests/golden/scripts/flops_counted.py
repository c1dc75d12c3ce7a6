"""FLOPs are counted by a mode that asks for no memory: what it counts is printed nowhere here."""

import torch
from torch.utils.flop_counter import FlopCounterMode

model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8)).cuda()
x = torch.randn(16, 64, device="cuda")
counter = FlopCounterMode(display=False)
with counter:
    model(x).sum().backward()
print(counter.get_total_flops() >= 0, "Global" in counter.get_flop_counts())
