# Nothing handles the error: what `finally` and `with` do on the way out is done, the rest is not.
import torch
from torch import nn


class Timer:
    def __enter__(self):
        self.buffer = torch.zeros(2**20, device="cuda")

    def __exit__(self, *error):
        del self.buffer
        print("timer closed")


def step(model, batch):
    x = torch.randn(batch, 4096, device="cuda")
    scratch = torch.zeros(2**22, device="cuda")
    try:
        with Timer():
            loss = model(x).square().sum()
            loss.backward()
    finally:
        del scratch
        torch.cuda.empty_cache()
        print("cleaned after", batch)
    return loss


model = nn.Linear(4096, 65536, device="cuda")
for power in range(14, 24):
    print("batch", 2**power)
    step(model, 2**power)
print("not reached")
