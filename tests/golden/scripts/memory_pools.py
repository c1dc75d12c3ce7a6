"""Pools of a program's own, taken and left between requests that no kernel follows; a pool that goes before what lies in it."""
import torch

kept = torch.empty(1 << 20, device="cuda")
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    a = [torch.empty(n << 18, device="cuda") for n in (1, 3, 9)]
b = torch.empty(3 << 20, device="cuda")
del a[1]
with torch.cuda.use_mem_pool(pool):
    c = torch.empty(2 << 18, device="cuda")
    d = c * 2
del a, c
torch.cuda.empty_cache()
e = d @ d
del pool, d, e
torch.cuda.empty_cache()
f = torch.zeros(7 << 20, device="cuda")
