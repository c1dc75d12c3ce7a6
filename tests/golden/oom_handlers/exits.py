# The handler says what happened and ends the program with a code of its own; `finally` still runs.
import sys

import torch
from torch import nn

model = nn.Linear(16384, 16384, device="cuda")
try:
    for rows in (1024, 65_536, 4_194_304):
        try:
            model(torch.randn(rows, 16384, device="cuda")).square().mean().backward()
            print("trained", rows)
        except torch.cuda.OutOfMemoryError:
            print("too many:", rows)
            sys.exit(3)
finally:
    model.zero_grad()
    torch.cuda.empty_cache()
    print("cleaned", torch.cuda.memory_allocated() >> 20)
