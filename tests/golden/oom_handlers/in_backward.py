# The request that is refused stands in backward, then in the optimizer's first step; both are handled, and training goes on.
import torch
from torch import nn

model = nn.Sequential(*[nn.Sequential(nn.Linear(4096, 16384), nn.GELU(), nn.Linear(16384, 4096)) for _ in range(12)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
reserve = torch.empty(40 * 2**30, dtype=torch.uint8, device="cuda")


def train(rows):
    loss = model(torch.randn(rows, 4096, device="cuda")).mean()
    print("forward of", rows)
    loss.backward()
    print("backward of", rows)
    optimizer.step()
    print("step of", rows)


rows, tried = 36_864, []
while len(tried) < 8:
    tried.append(rows)
    try:
        train(rows)
    except torch.cuda.OutOfMemoryError:
        present = sum(p.grad is not None for p in model.parameters())
        states = len(optimizer.state)
        print("refused at", rows, "gradients", present, "states", states)
        optimizer.zero_grad()
        torch.cuda.empty_cache()
        rows //= 2
        if len(tried) == 3:
            reserve = None
        continue
    optimizer.zero_grad()
    if len(tried) > 5:
        break
print(tried, reserve is None)
