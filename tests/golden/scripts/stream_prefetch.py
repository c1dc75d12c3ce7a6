"""Batches are copied ahead on a stream of their own, from pinned memory."""
import torch
from torch import nn


class Prefetcher:
    def __init__(self, batches):
        self.batches = iter(batches)
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        try:
            x, y = next(self.batches)
        except StopIteration:
            self.x = None
            return
        with torch.cuda.stream(self.stream):
            self.x = x.cuda(non_blocking=True).float()
            self.y = y.cuda(non_blocking=True)

    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        x = self.x
        if x is None:
            return None
        y = self.y
        x.record_stream(torch.cuda.current_stream())
        y.record_stream(torch.cuda.current_stream())
        self.preload()
        return x, y


def batches():
    for n in (64, 48, 64, 32, 64, 64, 80, 16):
        yield torch.empty(n, 1000, dtype=torch.float16).pin_memory(), torch.zeros(n, dtype=torch.int64).pin_memory()


model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loader = Prefetcher(batches())
batch = loader.next()
step = 0
while batch is not None:
    x, y = batch
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 3 == 2:
        print(loss.item())
    step += 1
    batch = loader.next()
torch.cuda.synchronize()
print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved())
h = torch.cuda.host_memory_stats()
print(h["allocated_bytes.current"], h["allocated_bytes.peak"], h["num_host_alloc"])
