"""Gradients of indexing: how many bits the positions have decides what sorting them needs."""
import torch

for shape, place in (((12, 49), 1), ((4, 49), 1), ((256, 3), 0), ((257, 3), 0), ((3, 256), 1), ((256,), 0), ((300, 5, 7), 0), ((5, 300, 7), 1),
                     ((2, 3, 128), 2)):
    for count in (500, 2305, 2401, 5000):
        x = torch.zeros(shape, device="cuda", requires_grad=True)
        index = torch.zeros(count, dtype=torch.int64, device="cuda")
        y = x[(slice(None),) * place + (index,)]
        y.backward(torch.ones_like(y))
        del x, y, index

for shape in ((40, 9, 30), (3, 200, 4)):
    for apart in (False, True):
        x = torch.zeros(shape, device="cuda", requires_grad=True)
        index = torch.zeros(2500, dtype=torch.int64, device="cuda")
        y = x[index, :, index] if apart else x[:, index, index]
        y.backward(torch.ones_like(y))
        del x, y, index
