# An error that is kept keeps what its frames held; without it the memory comes back.
import gc

import torch
from torch import nn


def attempt(rows):
    x = torch.randn(rows, 4096, device="cuda")
    hidden = x * 2
    wide = hidden.repeat(1, 1000)
    return wide.sum()


kept = None
try:
    attempt(40_000)
except RuntimeError as error:
    kept = error
print("kept", torch.cuda.memory_allocated() >> 20, "out of memory" in str(kept))
kept.__traceback__ = None
print("without its frames", torch.cuda.memory_allocated() >> 20)
errors = []
for rows in (30_000, 50_000):
    try:
        attempt(rows)
    except torch.OutOfMemoryError as error:
        errors.append(error)
        print("inside", torch.cuda.memory_allocated() >> 20)
    print("after", torch.cuda.memory_allocated() >> 20)
errors.clear()
gc.collect()
print("cleared", torch.cuda.memory_allocated() >> 20)
try:
    attempt(40_000)
except RuntimeError as error:
    message = str(error)
    retry = True
if retry:
    torch.cuda.empty_cache()
    net = nn.Linear(4096, 4096).cuda()
    print("retried", attempt.__name__, torch.cuda.memory_allocated() >> 20, message.startswith("CUDA out of memory. Tried to allocate"))
