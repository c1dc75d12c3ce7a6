"""Where the largest and the smallest value of a whole DTensor is: of even and uneven parts, on meshes of one and two dimensions."""
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
flat, square = init_device_mesh("cuda", (4,)), init_device_mesh("cuda", (2, 2))
places = []
for mesh, placements, shape in (
    (flat, [Shard(0)], (64, 48)), (flat, [Shard(1)], (33, 65)), (flat, [Shard(2)], (3, 5, 16)), (flat, [Replicate()], (9, 9)),
    (square, [Shard(0), Shard(1)], (40, 24)), (square, [Replicate(), Shard(0)], (40, 24)), (square, [Shard(0), Shard(0)], (41,)),
):
    x = distribute_tensor(torch.randn(shape, device="cuda"), mesh, placements).requires_grad_()
    places += [x.argmax(), x.detach().argmin(), (x * 2).argmin()]
    del x
dist.destroy_process_group()
