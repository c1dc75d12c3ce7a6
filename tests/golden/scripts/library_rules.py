"""Rules of torch and Python that libraries showed, each with the least that shows it."""

import copy
import pickle

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

device = torch.accelerator.current_accelerator()

# A norm that has to be finite is looked at.
layer = torch.nn.Linear(8, 4).to(device)
layer(torch.rand(2, 8, device=device)).sum().backward()
torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)
del layer

# Resampling to the same size hands its gradient on as it comes, but for cubic ones.
for mode in ("bilinear", "bicubic", "nearest", "nearest-exact"):
    for size in (16, 24):
        image = torch.rand(2, 8, 16, 16, device=device, requires_grad=True)
        wide = torch.cat([F.interpolate(image, size=(size, size), mode=mode), torch.rand(2, 4, size, size, device=device)], 1)
        wide.square().mean().backward()
        del wide

# A number among sorted ones becomes a scalar of their type.
for edges in (torch.linspace(0, 1, 11, device=device), torch.arange(10, device=device)):
    for number in (0.5, 3):
        place = torch.searchsorted(edges, number, right=True)
        del place
print(torch.searchsorted(torch.arange(0, 100, 10), 35).item(), torch.searchsorted(torch.rand(7), float("-inf")).item())

# Whether a number is in a tensor is asked on the device.
print(1 in torch.zeros(3), 0 in torch.arange(3))
tokens = torch.zeros(4, 6, dtype=torch.int64, device=device)
if 7 in tokens[:, [-1, 0]]:
    tokens = tokens + 1

# What stands for an integer is one.
rows = torch.rand(12, 300, device=device)
for step in np.arange(0, 12, 5)[::-1].astype(np.int64):
    kept = rows[step] * 2


class Place:
    def __index__(self):
        return 3


kept = rows[Place(), 2:Place()].exp()

# Samples of known numbers stay known in a batch.
for ids, mask in DataLoader(TensorDataset(torch.arange(12).view(6, 2), torch.ones(6, 2)), batch_size=4):
    print(ids.tolist())

# A layout, and numbers between known ones.
noise = torch.randn(3, 5, device=device, layout=torch.strided)
print(np.interp([0.5, 2.0, 9.0], [0, 1, 4], [10.0, 20.0, 50.0]).tolist())


# What is finalized drops what it holds, and what a memo holds stands in a copy.
class Holder:
    def __init__(self):
        self.held = torch.empty(5000, device=device)

    def __del__(self):
        more = torch.empty(7000, device=device)
        del more
        print("gone", self.held.shape)


holder = Holder()
holder = None
after = torch.empty(6000, device=device)
part = [1, 2]
print(copy.deepcopy({"a": part, "b": [part]}, {id(part): "instead"}))
print(pickle.loads(pickle.dumps({"a": [1, 2]})))
try:
    pickle.dumps(lambda x: x)
except (pickle.PicklingError, AttributeError):
    print("not picklable")
print(torch.cuda.max_memory_allocated())
