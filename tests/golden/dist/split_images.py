"""A ResNet that is compiled around DistributedDataParallel: PyTorch splits it where buckets of gradients end."""

import os
import torch, torch.distributed as dist, torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Block(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o)
        self.c2, self.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.down = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o)) if i != o else nn.Identity()
        self.act = nn.ReLU(inplace=True)
    def forward(self, x):
        h = self.act(self.b1(self.c1(x)))
        return self.act(self.b2(self.c2(h)) + self.down(x))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, 1, 1)
        self.blocks = nn.Sequential(Block(32, 32, 1), Block(32, 64, 2), Block(64, 128, 2), Block(128, 256, 2), Block(256, 256, 1))
        self.fc = nn.Linear(256, 10)
    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))

dist.init_process_group("nccl")
d = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(d)
model = Net().cuda().to(memory_format=torch.channels_last)
model = torch.compile(DDP(model, device_ids=[d], gradient_as_bucket_view=True, bucket_cap_mb=4))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    x = torch.randn(32, 3, 32, 32, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(0, 10, (32,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
dist.destroy_process_group()
