"""sparse tensors moved, copied, converted, saved and loaded"""
import copy
import io

import torch

torch.manual_seed(0)


def mark(n):
    return torch.empty(n * 1024 * 1024 * 3, dtype=torch.int8, device="cuda")


indices = torch.stack([torch.randint(0, 48, (100,)), torch.randint(0, 40, (100,))])
host = torch.sparse_coo_tensor(indices, torch.randn(100), (48, 40))
mark(1)
moved = host.cuda()
mark(2)
sent = host.to("cuda")
mark(3)
copied = copy.deepcopy(sent)
mark(4)
pair = copy.deepcopy({"a": moved, "b": moved})
print(pair["a"] is pair["b"])
mark(5)
cloned = moved.clone()
mark(6)
back = moved.cpu()
mark(7)
file = io.BytesIO()
torch.save({"a": sent, "b": [moved, moved]}, file)
mark(8)
file.seek(0)
loaded = torch.load(file, weights_only=False)
print(loaded["a"].shape, loaded["a"].is_sparse, loaded["b"][0].device)
mark(9)
file.seek(0)
on_host = torch.load(file, map_location="cpu", weights_only=False)
mark(10)
narrow = moved.half()
mark(11)
wide = moved.to(torch.float64)
mark(12)
dense = copied.to_dense()
print(dense.shape)
mark(13)
del copied, cloned, narrow, wide, loaded
mark(14)
