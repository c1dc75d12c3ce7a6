import torch
from torch import nn
m=nn.Sequential(*[nn.Linear(2,2) for i in range(8000)]).cuda()
import torch.distributed as dist
dist.init_process_group('nccl')
m=nn.parallel.DistributedDataParallel(m)
m(torch.zeros(1,2,device='cuda')).sum().backward()
