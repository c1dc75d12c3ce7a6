"""A Llama of checkpointed blocks that is compiled around DistributedDataParallel, split between the blocks."""

import os
import torch.utils.checkpoint
import torch, torch.distributed as dist, torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

D, H, T, V, L = 512, 8, 128, 4000, 4
class RMS(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))
    def forward(self, x):
        n = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
        return n.type_as(x) * self.w
def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = RMS(D), RMS(D)
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.g, self.u, self.d = nn.Linear(D, 1376, bias=False), nn.Linear(D, 1376, bias=False), nn.Linear(1376, D, bias=False)
    def forward(self, x, cos, sin):
        B, T, _ = x.shape
        h = self.n1(x)
        q, k, v = (p(h).view(B, T, H, D // H).transpose(1, 2) for p in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(rope(q, cos, sin), rope(k, cos, sin), v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(B, T, D))
        h = self.n2(x)
        return x + self.d(F.silu(self.g(h)) * self.u(h))
class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.layers = nn.ModuleList(Layer() for _ in range(L))
        self.norm, self.out = RMS(D), nn.Linear(D, V, bias=False)
        t = torch.outer(torch.arange(T).float(), 1 / 10000 ** (torch.arange(0, D // H, 2) / (D // H)))
        f = torch.cat((t, t), -1)
        self.register_buffer("cos", f.cos(), persistent=False)
        self.register_buffer("sin", f.sin(), persistent=False)
    def forward(self, idx):
        x = self.emb(idx)
        for l in self.layers:
            x = torch.utils.checkpoint.checkpoint(l, x, self.cos[:idx.shape[1]], self.sin[:idx.shape[1]], use_reentrant=False)
        return self.out(self.norm(x))

dist.init_process_group("nccl")
d = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(d)
model = Llama().to(d)
model = DDP(model, device_ids=[d], bucket_cap_mb=8, static_graph=False)
model = torch.compile(model)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
for _ in range(3):
    x = torch.randint(0, V, (4, T), device=d)
    with torch.autocast('cuda', torch.bfloat16):
        logits = model(x)
    loss = F.cross_entropy(logits.float().view(-1, V), x.view(-1))
    loss.backward()
    opt.step()
    opt.zero_grad()
dist.destroy_process_group()
