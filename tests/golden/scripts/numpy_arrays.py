"""Arrays, numpy's random numbers, and what goes between them and tensors."""

import random
import numpy as np
import torch
from torch import nn
random.seed(0); np.random.seed(0); torch.manual_seed(0)
X = np.random.randn(64, 8).astype(np.float32)
y = np.random.randint(0, 3, size=64)
x2 = np.random.rand(64, 8)
z = np.zeros((3, 4), dtype=np.int64)
idx = np.arange(64)
np.random.shuffle(idx)
perm = np.random.permutation(64)
tr = X[idx[:48]]
print(X.shape, X.dtype, y.shape, x2.dtype, z.ndim, z.size, len(X), tr.shape, X[0].shape, X[:, :2].shape, X.T.shape)
t = torch.from_numpy(X).cuda()
u = torch.tensor(y).cuda()
v = torch.as_tensor(x2, dtype=torch.float32, device="cuda")
w = torch.from_numpy(x2[perm[:10]]).float().cuda()
print(t.dtype, t.shape, u.dtype, v.shape, w.shape)
m = nn.Linear(8, 3).cuda()
loss = nn.functional.cross_entropy(m(t), u)
loss.backward()
p = m(t).detach().cpu().numpy()
print(p.shape, p.dtype, p.argmax(axis=1).shape, p.mean(), np.mean([1, 2, 3]), np.concatenate([p, p]).shape, np.stack([p, p], axis=1).shape, np.vstack([p, p]).shape)
losses = []
losses.append(loss.item())
print(np.mean(losses), np.std(losses), np.array([1.0, 2.0, 3.0]).mean(), np.linspace(0, 1, 5), np.arange(5) * 2)
acc = (p.argmax(1) == y).mean()
np.random.seed(42)
print(np.random.rand(), np.random.rand(3).tolist(), np.random.randint(0, 10), np.random.randint(5, size=6).tolist(), np.random.uniform(-1, 1))
print(np.random.randn(4).tolist(), np.random.normal(3, 0.5), np.random.permutation(7).tolist(), np.random.choice(10, 4).tolist(), np.random.choice(10, 4, replace=False).tolist())
print(float(np.random.beta(0.4, 0.4)), float(np.random.beta(2.0, 1.0)), float(np.random.gamma(2.5)), float(np.random.gamma(0.5, 2.0)), np.random.exponential(), np.random.choice([3, 5, 7]).item(), np.random.choice(3, p=[0.2, 0.3, 0.5]))
x = list(range(9))
np.random.shuffle(x)
a = np.arange(8)
np.random.shuffle(a)
print(x, a, np.random.rand(2, 2).tolist(), np.random.randint(0, 2**31))
r = np.random.RandomState(7)
print(r.rand(), r.permutation(5).tolist(), r.randn())
print(a[::-1], a[2:5] * 2, a[a > 3].shape, (a / 2).dtype, (a * 1.5).dtype, (a.astype(np.float32) * 2.0).dtype, (a.astype(np.float32) + a).dtype, a.mean(), a.sum(), a.max(), a.argmax())
b = np.array([[1, 2], [3, 4]], dtype=np.float32)
print(b, b.shape, b.T.tolist(), b.sum(axis=0), b.mean(1), b.std(), np.linalg.norm(b), b[0], b[0, 1], b[:, None].shape)
print(np.linspace(0, 1, 5), np.zeros((2, 3)), np.ones(3, dtype=int), np.full((2,), 7), np.eye(2), np.concatenate([a, a]).shape, np.stack([b, b]).shape)
print(repr(a), repr(b.dtype), np.mean([1, 2, 4]), np.std([1.0, 2.0]), np.max([3, 9]), np.clip(5, 0, 3), np.log(2.0), np.sqrt(4), np.prod([2, 3]), np.argmax([1, 5, 2]), np.cumsum([1, 2, 3]))
for row in b:
    print(row)
print(np.arange(0, 1, 0.25), [p.tolist() for p in np.array_split(np.arange(10), 3)], np.isnan(b).any(), np.array_equal(a, a), f"{np.mean([0.5, 0.25]):.3f}", np.percentile([1, 2, 3, 4], 50), isinstance(a, np.ndarray), np.pi, np.inf, b.astype("int64").tolist(), b.size, b.ndim, np.expand_dims(a, 0).shape, np.vstack([a, a]).shape, np.hstack([a, a]).shape, np.tile(a, 2).shape, np.repeat(a, 2).shape)
