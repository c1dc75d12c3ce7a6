"""A stage by hand: its output's memory is given back once it was sent, and the engine is asked itself; single sends in a
group that was made with device_id."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn

local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
dist.init_process_group("nccl", device_id=torch.device("cuda", local))
rank, world = dist.get_rank(), dist.get_world_size()
engine = torch.autograd.Variable._execution_engine
stage = nn.Sequential(nn.Linear(200, 300), nn.ReLU(), nn.Linear(300, 200)).cuda()
optimizer = torch.optim.SGD(stage.parameters(), lr=0.1, momentum=0.9)
for step in range(2):
    x = torch.empty(64, 200, device="cuda", requires_grad=rank > 0)
    halo = torch.ones(3000, device="cuda")
    work = dist.irecv(halo, rank - 1) if rank % 2 else dist.isend(halo, rank + 1)
    work.wait()
    far = [torch.ones(40000, device="cuda") for _ in range(2)]
    ops = [dist.P2POp(dist.isend, far[0], (rank + 1) % world), dist.P2POp(dist.irecv, far[1], (rank - 1) % world)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    ops = work = None
    if rank > 0:
        dist.recv(x, rank - 1)
    out = stage(x)
    if rank < world - 1:
        dist.send(out, rank + 1)
        out.data = torch.empty(1, device="cuda")
        grad = torch.empty(64, 200, device="cuda")
        dist.recv(grad, rank + 1)
        engine.run_backward(
            tensors=(out,), grad_tensors=(grad,), keep_graph=False, create_graph=False, inputs=tuple(),
            allow_unreachable=True, accumulate_grad=True
        )
    else:
        out.square().mean().backward()
    if rank > 0:
        dist.send(x.grad, rank - 1)
    halo = far = None
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
