"""what collectives keep that nobody waits for goes at the next point to point as well, alone and in batches"""
import os
import torch
import torch.distributed as dist
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
rank, world = dist.get_rank(), dist.get_world_size()
def backward():
    (torch.ones(10, device="cuda", requires_grad=True) * 2).sum().backward()
works = [dist.all_reduce(torch.ones(1000, device="cuda"), async_op=True)]
backward()
x, y = torch.ones(70, device="cuda"), torch.empty(70, device="cuda")
w = dist.isend(x, 1 - rank) if rank == 0 else dist.irecv(y, 1 - rank)
w.wait()
after = torch.ones(300, device="cuda")
works.append(dist.all_gather_into_tensor(torch.empty(4000, device="cuda"), torch.ones(2000, device="cuda"), async_op=True))
backward()
for w in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 1 - rank), dist.P2POp(dist.irecv, y, 1 - rank)]):
    w.wait()
after = torch.ones(301, device="cuda")
works.append(dist.reduce_scatter_tensor(torch.empty(500, device="cuda"), torch.ones(1000, device="cuda"), async_op=True))
backward()
if rank == 0:
    dist.send(x, 1)
else:
    dist.recv(y, 0)
after = torch.ones(302, device="cuda")
works.append(dist.broadcast(torch.ones(800, device="cuda"), 0, async_op=True))
backward()
with dist._coalescing_manager():
    dist.all_reduce(x)
after = torch.ones(303, device="cuda")
for w in works:
    w.wait()
dist.destroy_process_group()
