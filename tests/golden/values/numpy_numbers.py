"""numpy's numbers keep their type; arrays of tensors without dimensions; places between points."""
import numpy as np
import torch

quarter = torch.tensor(0.25)
print(np.array([quarter]), np.concatenate([np.array([1.0, 2.0]), [((1 - quarter) / quarter) ** 0.5]]))
print(np.interp(np.float32(1.5), [0, 1, 2], [5, 6, 7]), np.interp(1.2, [0, 1], [3, 4]))
single = np.array([1.0, 2.0], dtype=np.float32)
print(np.log(single[1]), np.sqrt(np.float32(3)), np.maximum(single[1], 1e-10).dtype, np.log(single[1]).dtype)
print(np.sqrt(4).dtype, np.exp(np.int64(2)))
steps = torch.linspace(1, 0, 6)[:-1]
betas = torch.sin(steps * 3 / 2) ** 2
angles = torch.atan2(betas, (1 - betas**2) ** 0.5).to("cuda")
print([(angles == angle).nonzero().tolist() for angle in angles])
marks = np.zeros((2, 4), dtype=bool)
np.put_along_axis(marks, np.array([[0, -1], [2, 1]]), 1, -1)
print(marks.tolist(), torch.tensor(marks).nonzero().tolist())
table = np.arange(6).reshape(2, 3)
np.put_along_axis(table, np.array([[2], [0]]), np.array([[7], [8]]), axis=1)
print(table.tolist(), np.take_along_axis(table, np.array([[0], [-1]]), 1).tolist(), np.take_along_axis(np.array([5, 6, 7]), np.array([2, 0]), 0).tolist())
print(np.take_along_axis(np.arange(8).reshape(2, 2, 2), np.array([[[1, 0]], [[0, 1]]]), axis=1).tolist())
print(np.gcd(12, 18), np.lcm(4, 6), np.gcd(np.array([4, 9]), 6).dtype)
print(np.unique(np.array([3.0, 1.0, 3.0])), [part.tolist() for part in np.unique(np.array([[5, 2], [2, 7]]), return_index=True, return_inverse=True, return_counts=True)])
