"""Grouped products, as mixtures of experts take them, repeats by numbers, and tensors that stand for integers."""
import functools

import numpy as np
import torch
import torch.nn.functional as F

GROUPS, ROWS, INNER, COLUMNS = (4, 3, 8), 96, 32, 48


def product(a, b, **offs):
    out = F.grouped_mm(a, b, **offs)
    out.backward(torch.ones_like(out))
    print(tuple(out.shape), out.stride(), out.dtype, tuple(a.grad.stride()), tuple(b.grad.stride()))


def random(*sizes):
    return torch.randn(*sizes, device="cuda", dtype=torch.bfloat16, requires_grad=True)


for groups in GROUPS:
    ends = torch.arange(1, groups + 1, device="cuda", dtype=torch.int32) * (ROWS // groups)
    product(random(ROWS, INNER), random(groups, INNER, COLUMNS), offs=ends)
    product(random(groups, ROWS, INNER), random(groups, INNER, COLUMNS))
    turned = random(groups, COLUMNS, INNER)
    out = F.grouped_mm(random(ROWS, INNER), turned.transpose(-2, -1), offs=ends)
    out.backward(torch.ones_like(out))
    print(tuple(turned.grad.shape), turned.grad.stride())
    print(F.grouped_mm(torch.ones(64, ROWS, device="cuda", dtype=torch.bfloat16), random(ROWS, 32), offs=ends).stride())
    print(F.grouped_mm(random(groups, 64, ROWS).detach(), random(ROWS, ROWS).detach(), offs=ends).stride())

for refused in (lambda: F.grouped_mm(random(64, 30), random(4, 30, 48), offs=ends),
                lambda: F.grouped_mm(random(64, 32), random(3, 32, 48), offs=ends),
                lambda: F.grouped_mm(random(64, 32), random(8, 16, 48), offs=ends),
                lambda: F.grouped_mm(random(64, 32), random(8, 32, 48)),
                lambda: F.grouped_mm(random(64, 32), random(8, 32, 48), offs=ends.long()),
                lambda: F.grouped_mm(random(4, 64, 32), random(3, 32, 48)),
                lambda: F.grouped_mm(random(64), random(3, 32, 48))):
    try:
        refused()
    except RuntimeError as error:
        print(error)

for dtype in (torch.int64, torch.int32):
    repeats = torch.tensor([2, 0, 3, 1], dtype=dtype).cuda()
    x = torch.randn(4, 6, device="cuda", requires_grad=True)
    parts = [x.repeat_interleave(repeats, 0, output_size=6), torch.repeat_interleave(x, repeats, dim=0, output_size=6),
             x.repeat_interleave(torch.tensor([3]).cuda(), 1, output_size=18), x.repeat_interleave(2, 1, output_size=12)]
    places = torch.repeat_interleave(repeats, output_size=6)
    print([tuple(part.shape) for part in parts], tuple(places.shape), places.dtype)
    sum(part.sum() for part in parts).backward()
    flat = x.detach().flatten()[:4].repeat_interleave(repeats, output_size=6)

host = torch.tensor([2, 0, 3, 1])
print(host.repeat_interleave(torch.tensor([1, 2, 0, 2])).tolist(), torch.repeat_interleave(host).tolist())
print(host.view(2, 2).repeat_interleave(torch.tensor([1, 2]), 1).tolist())
for refused in (lambda: x.repeat_interleave(repeats, 1), lambda: x.repeat_interleave(2, 1, output_size=11), lambda: x.repeat_interleave(-2, 1),
                lambda: torch.repeat_interleave(host.view(2, 2)), lambda: x.repeat_interleave(host.view(2, 2), 0)):
    try:
        refused()
    except RuntimeError as error:
        print(error)

one = torch.tensor(1)
print(x.narrow(0, one, 2).shape, x.select(0, one).shape, len(x.split(one)), x.topk(one * 2)[0].shape, torch.eye(one * 3).shape,
      F.pad(x, (one, one)).shape, F.one_hot(torch.tensor([0, 1]), one * 4).shape, len(x.chunk(one * 2)))

# A mask of rows chooses where values go: the count comes before the dense mask.
wide = torch.zeros(2, 5, 8, device="cuda")
chosen = torch.tensor([[True, False, True, False, True], [False, True, False, True, True]]).cuda()
wide = wide.masked_scatter(chosen[:, :, None], torch.ones(6, 8, device="cuda"))

# numpy's numbers are numbers in place too; the names of shared parameters are all there.
wide *= np.sqrt(4.0)
wide += np.float32(3)
layer = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
layer[1].weight = layer[0].weight
print(wide.dtype, [name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_parameters(remove_duplicate=False)])


@functools.lru_cache(maxsize=1)
def kept(x):
    return x + 1


for _ in range(2):
    kept(torch.ones(300, device="cuda"))

# Five dimensions have ten paddings; three tensors make a mesh.
padded = F.pad(torch.ones(1, 2, 3, 2, 2, device="cuda", requires_grad=True), (0, 0, 0, 0, 1, 1, 0, 0, 2, 0))
padded.sum().backward()
print(padded.shape, [tuple(part.shape) for part in torch.meshgrid(one, torch.arange(2), torch.arange(3), indexing="ij")])

# A matrix is made in memory that is there.
square = torch.randn(6, 6, device="cuda")
print((torch.eye(6, out=torch.empty_like(square)) - square @ square.T).norm().shape, torch.eye(2, 3, out=torch.empty(2, 3)).tolist())
