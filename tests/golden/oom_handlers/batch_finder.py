# The largest batch is looked for by a function of another file; no `except` stands here.
import torch
from torch import nn

from finder import find_executable_batch_size, fits

model = nn.Sequential(nn.Linear(4096, 16384), nn.ReLU(), nn.Linear(16384, 4096)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())


def step(batch):
    loss = model(torch.randn(batch, 4096, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


@find_executable_batch_size(starting_batch_size=4_194_304)
def train(batch_size, steps):
    for _ in range(steps):
        step(batch_size)
    return batch_size


print("trained with", train(3))
batch = 65536
while fits(step, batch):
    batch += 65536
print("first that does not fit", batch)
