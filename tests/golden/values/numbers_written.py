# Numbers of the host that are written at places other numbers say, that are picked by rank, multiplied, turned and joined.
import torch
import torch.nn.functional as F

i = torch.tensor([[3, 1, 2], [0, 5, 4]])
f = torch.tensor([[1.5, -2.0, 0.25], [4.0, 0.0, -1.0]])
b = torch.tensor([[True, False, True], [False, False, True]])
x = torch.tensor([2, 0, 1])
v = torch.tensor([5, 3, 5, 1, 3, 3])
r = torch.arange(12).view(3, 4)


def show(name, *tensors):
    print(name, *[t.tolist() for t in tensors])


show("scatter", torch.zeros(2, 6, dtype=torch.long).scatter_(1, i, 1), torch.zeros(2, 6).scatter(1, i, f))
show("scatter rows", torch.zeros(6, 3).scatter_(0, i, f), torch.zeros(2, 6).scatter_(1, i[:, :2], f))
show("scatter_add", torch.zeros(2, 6).scatter_add_(1, i // 2, f))
show("scatter_reduce", *[torch.ones(2, 6).scatter_reduce(1, i // 2, f, way) for way in ("sum", "prod", "amax", "amin")])
show("not with what was there", torch.ones(2, 6).scatter_reduce(1, i // 2, f, "amax", include_self=False))
show("index_fill", r.index_fill(0, torch.tensor([0, -1]), -1), r.index_fill(1, torch.tensor([1]), 7))
show("index_copy", r.index_copy(1, torch.tensor([3, 0]), torch.arange(6).view(3, 2)))
show("index_add", r.index_add(0, torch.tensor([0, 0]), torch.ones(2, 4, dtype=torch.long), alpha=3))
show("index_put", r.index_put((torch.tensor([0, 1]), torch.tensor([1, 1])), torch.tensor([7, 8])))
show("added", r.clone().index_put_((torch.tensor([0, 0]),), torch.tensor([7]), accumulate=True))
a = r.clone()
a[a > 5] = 0
a[1] = 9
a[:, 2] = 4
a[0, 1:3] = torch.tensor([8, 8])
show("items", a)
a[torch.tensor([2, 0])] = 3
a[torch.tensor([0, 1]), torch.tensor([0, 3])] = torch.tensor([-1, -2])
a[:, torch.tensor([1, 3])] = torch.tensor([[5, 6]])
show("items by tensors", a)
mask = torch.zeros(4, 5, dtype=torch.bool)
mask[torch.tensor([1, 3])] = True
mask[:, torch.tensor([0])] = False
show("a mask", mask.nonzero(), r[torch.tensor([True, False, True])])
labels = torch.tensor([4, 0, 0, 7])
labels[labels == 0] = -100
show("labels", labels, labels[labels != -100])
grid = torch.zeros(4, 4)
grid[1:3, 1:3][torch.tensor([[True, False], [True, True]])] = torch.tensor([1.0, 2.0, 3.0])
show("within a view", grid)
show("masked_scatter", i.masked_scatter(b, torch.tensor([9, 8, 7])), i.masked_fill(b, 0))
show("put_", r.clone().put_(torch.tensor([0, -1]), torch.tensor([9, 8])))
show("scatters of views", r.slice_scatter(torch.zeros(1, 4, dtype=torch.long), 0, 1, 2), r.slice_scatter(torch.zeros(3, 2, dtype=torch.long), 1, 0, 4, 2))
show("a row, a diagonal", r.select_scatter(torch.zeros(3, dtype=torch.long), 1, -1), r.diagonal_scatter(torch.zeros(3, dtype=torch.long), 1))
show("one_hot", F.one_hot(x), F.one_hot(x, 4), F.one_hot(torch.tensor([[1, 3]])))
show("searchsorted", torch.searchsorted(torch.tensor([1, 3, 5]), i), torch.searchsorted(torch.tensor([1, 3, 5]), i, right=True))
show("by rows", torch.searchsorted(torch.tensor([[1, 3], [2, 4]]), torch.tensor([[1, 2, 3], [2, 3, 5]]), side="right"))
show("take_along_dim", torch.take_along_dim(r, torch.tensor([[0], [1], [2]]), 1), torch.take_along_dim(r, torch.tensor([11, 0])))
show("embedding", F.embedding(x, f.T), F.embedding(i[:, :1] % 3, r))
show("products", i @ torch.arange(6).view(3, 2), i @ x, x @ x, torch.bmm(i[None], r[None, :3]), torch.dot(x, x))
show("norms", torch.tensor([3.0, 4.0]).norm(), torch.linalg.vector_norm(torch.tensor([[3.0, 4.0], [6.0, 8.0]]), dim=1), f.norm(p=1), f.norm(p=float("inf")))
show("deviations", torch.tensor([1.0, 3.0, 5.0]).var(), torch.tensor([1.0, 3.0]).var(unbiased=False), torch.tensor([[1.0, 5.0], [2.0, 2.0]]).std(1, correction=0), *torch.var_mean(torch.tensor([1.0, 3.0, 5.0])))
show("ranks", v.median(), *f.median(1), torch.kthvalue(v, 2)[0], v.mode()[0], *torch.cummax(v, 0), *torch.cummin(v, 0), *torch.aminmax(f), *torch.aminmax(f, dim=1))
show("sums", f.nansum(), r[:, :3].trace(), torch.tensor([0.0]).logsumexp(0), torch.tensor([1.0, 1.0]).softmax(0))
show("elements", f.frac(), f.signbit(), torch.fmax(f, -f), torch.fmin(f, -f), f.clamp_min(0), f.clamp_max(1), v << 1, v >> 1, torch.gcd(v, torch.tensor(3)), torch.lcm(v, torch.tensor(2)))
show("three", torch.addcmul(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([3.0]), value=2), torch.addcdiv(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([4.0])))
show("no nan", torch.tensor([float("nan"), 1.0, float("inf")]).nan_to_num(0.5, posinf=2.0), torch.heaviside(f, torch.tensor(0.5)))
show("turned", torch.rot90(r), torch.rot90(r, 2), torch.rot90(r, -1), torch.rot90(r, 1, (1, 0)))
show("diagonals", torch.diag(x), torch.diag(r), torch.diag(r, 1), torch.diag(x, -1), torch.diag_embed(i, 1))
show("stacks", torch.vstack((x, x)), torch.hstack((x, x)), torch.hstack((r, r)), torch.dstack((x, x)), torch.column_stack((x, r)))
show("pads", F.pad(f[None], (1, 1), mode="reflect"), F.pad(f[None], (1, 2), mode="replicate"))
