"""A compiled GPT with tied weights and its loss under DistributedDataParallel, split at buckets of gradients."""

import os, math
import torch, torch.distributed as dist, torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

C, H, T, V, L = 256, 4, 128, 2048, 4
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(C, 3 * C, bias=False), nn.Linear(C, C, bias=False)
    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, H, C // H).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).contiguous().view(B, T, C))
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.a, self.n2 = nn.LayerNorm(C), Attn(), nn.LayerNorm(C)
        self.up, self.down = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)
    def forward(self, x):
        x = x + self.a(self.n1(x))
        return x + self.down(F.gelu(self.up(self.n2(x))))
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, C), nn.Embedding(T, C)
        self.h = nn.ModuleList(Block() for _ in range(L))
        self.nf, self.head = nn.LayerNorm(C), nn.Linear(C, V, bias=False)
        self.wte.weight = self.head.weight
    def forward(self, idx, targets=None):
        pos = torch.arange(idx.shape[1], device=idx.device)
        x = self.wte(idx) + self.wpe(pos)
        for b in self.h:
            x = b(x)
        logits = self.head(self.nf(x))
        loss = F.cross_entropy(logits.view(-1, V), targets.view(-1)) if targets is not None else None
        return logits, loss

dist.init_process_group("nccl")
d = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(d)
model = GPT().to(d)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
model = torch.compile(model)
model = DDP(model, device_ids=[d], bucket_cap_mb=5)
for _ in range(3):
    x = torch.randint(0, V, (4, T), device=d)
    with torch.amp.autocast("cuda", dtype=torch.bfloat16):
        logits, loss = model(x, x)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad(set_to_none=True)
dist.destroy_process_group()
