"""Crops of two sizes, counted by unique_consecutive; arrays of positions as indices; typed tensors of arrays."""
import torch, numpy as np
w = torch.tensor([48, 48, 24, 24, 24])
counts = torch.unique_consecutive(w, return_counts=True)
print([t.tolist() for t in counts], torch.unique(torch.tensor([3, 1, 3, 2])).tolist(), [t.tolist() for t in torch.unique(torch.tensor([3, 1, 3, 2]), return_inverse=True, return_counts=True)])
x = [torch.randn(2, 3, n, device="cuda") for n in (8, 8, 4, 4, 4)]
start = 0
out = torch.empty(0).to(x[0].device)
for end in torch.cumsum(torch.unique_consecutive(w, return_counts=True)[1], 0):
    y = torch.cat(x[start:end]).flatten(1)[:, :12]
    out = torch.cat((out, y))
    start = end
a, b = torch.unique_consecutive(w, return_inverse=True)
print(a.tolist(), b.tolist(), torch.unique(w, dim=0).tolist(), torch.tensor([[1, 2], [2, 1]]).unique(return_inverse=True)[1].tolist())
u = torch.unique(torch.randint(0, 9, (100,), device="cuda"))
u2 = torch.unique_consecutive(torch.randint(0, 9, (100,), device="cuda"))
big = torch.randn(32, 16, device="cuda", requires_grad=True)
inds = np.arange(32)
np.random.seed(1)
np.random.shuffle(inds)
for s in range(0, 32, 8):
    mb = inds[s:s + 8]
    l = big[mb].sum() + big[:, mb[:4]].sum()
    l.backward()
buf = torch.zeros(32, 16, device="cuda")
buf[inds[:4]] = 1.0
buf[inds[:4]] = torch.randn(4, 16, device="cuda")
v = torch.FloatTensor(np.random.rand(4).reshape(-1, 1)).cuda()
v2 = torch.cuda.FloatTensor(np.zeros((3, 3)))
v3 = torch.Tensor(np.ones((3, 3)))
v4 = torch.LongTensor(np.array([1, 2, 3])).cuda()
