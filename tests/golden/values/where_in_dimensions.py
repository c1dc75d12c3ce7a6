# nonzero and where in one, two and three dimensions: their columns are known where the input is, on the device too.
import torch

for d in ("cpu", "cuda"):
    x = torch.arange(12, device=d).view(3, 4) % 5
    rows, columns = torch.where(x > 2)
    print(rows.tolist(), columns.tolist(), rows.shape, x[rows, columns].tolist())
    rows, columns = (x == 0).nonzero(as_tuple=True)
    print(rows.tolist(), columns.tolist(), int(rows.max()), torch.zeros(3, 4, device=d)[rows].shape)
    a, b, c = torch.nonzero(x.view(3, 2, 2) > 1, as_tuple=True)
    print(a.tolist(), b.tolist(), c.tolist(), torch.nonzero(x.view(3, 2, 2) > 3).tolist())
    print([t.tolist() for t in torch.where(x.flatten() == 4)], [t.tolist() for t in torch.where(x > 100)])
    print(x.nonzero().shape, x.nonzero()[:, 1].tolist(), x.argwhere()[-1].tolist(), torch.argwhere(x > 3).tolist())
    print(torch.nonzero(torch.tensor(3, device=d)).shape, [t.tolist() for t in torch.tensor(3, device=d).nonzero(as_tuple=True)])

    # Tokens that go to each expert, as mixtures of experts look for them.
    chosen = torch.tensor([[0, 2], [1, 2], [2, 0], [3, 1]], device=d)
    hits = torch.nn.functional.one_hot(chosen, num_classes=4).permute(2, 1, 0)
    for expert in range(4):
        which, token = torch.where(hits[expert])
        print(expert, which.tolist(), token.tolist(), torch.zeros(4, 8, device=d)[None, token].shape)
    used = torch.greater(hits.sum(dim=(-1, -2)), 0).nonzero()
    print(used.tolist(), [int(e) for e in used], (hits.sum((1, 2)) > 2).nonzero().flatten().tolist())
    starts = torch.where(torch.tensor([5, 1, 9, 5, 5], device=d) == 5)[0]
    print(starts.tolist(), int(starts[0]), starts.diff().tolist(), torch.where(starts > 2, starts, -starts).tolist())
torch.manual_seed(0)
mask = torch.rand(4, 6) < 0.4
rows, columns = mask.nonzero(as_tuple=True)
print(rows.tolist(), columns.tolist(), rows.bincount(minlength=4).tolist(), torch.stack(torch.where(mask)).tolist())
