# A `with` of another file's class swallows the error; what was alive in the step is gone by then.
import torch
from torch import nn

from guards import Counting, Tolerant

model = nn.Sequential(nn.Linear(8192, 8192), nn.GELU(), nn.Linear(8192, 8192)).cuda()
optimizer = torch.optim.Adam(model.parameters())
guard = Tolerant()
done = []
for rows in (1024, 400_000, 2048, 800_000, 4096):
    with guard:
        x = torch.randn(rows, 8192, device="cuda")
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        done.append(rows)
        print(rows, guard.times)
print(done, guard.times)
with Tolerant((RuntimeError,)) as outer:
    with Counting() as inner:
        with Tolerant((ValueError,)) as narrow:
            held = [torch.empty(2**33, dtype=torch.uint8, device="cuda") for _ in range(20)]
            print("not reached")
print(outer.times, inner.times, narrow.times)
with Counting():
    last = torch.empty(2**34, dtype=torch.uint8, device="cuda")
print("last", last.numel())
