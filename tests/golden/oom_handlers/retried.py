# The loop goes on with half the batch, after the failed step's tensors are gone.
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
batch, done, skipped = 65536, 0, 0
while done < 3:
    print("trying", batch)
    outcome = None
    try:
        loss = model(torch.randn(batch, 3, 64, 64, device="cuda")).mean()
        loss.backward()
        optimizer.step()
    except torch.cuda.OutOfMemoryError:
        outcome = "smaller"
    else:
        done += 1
        del loss
    finally:
        optimizer.zero_grad(set_to_none=True)
    if outcome:
        skipped += 1
        batch //= 2
        torch.cuda.empty_cache()
print("done with", batch, "after", skipped)
