"""DTensors laid out anew in several steps: each waits before what it was made of goes; single rows need no copy."""
import os
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (2, 2))
rows, columns, whole = Shard(0), Shard(1), Replicate()
cases = [((6, 21), rows, columns), ((6, 22), rows, columns), ((7, 22), rows, columns), ((21, 25), columns, rows), ((6, 22), columns, columns)]
cases += [((1, 24), columns, whole), ((1, 24), columns, columns)]
for shape, *placements in cases:
    x = distribute_tensor(torch.randn(*shape, device="cuda"), mesh, placements)
    made = x.redistribute(mesh, [whole, whole])
    del made
    x.abs().mean()
    made = x.redistribute(mesh, [whole, columns])
    del made, x
dist.destroy_process_group()
