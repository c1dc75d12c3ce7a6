"""Experts that all are asked: products of batches, one of whose factors is a vector"""

import torch
import torch.nn.functional as F
from torch import nn
class MoE(nn.Module):
    def __init__(self, d=256, e=6, h=384, k=2):
        super().__init__()
        self.gate, self.k = nn.Linear(d, e, bias=False), k
        self.w1, self.w2 = nn.Parameter(torch.randn(e, d, h) * 0.02), nn.Parameter(torch.randn(e, h, d) * 0.02)
    def forward(self, x):
        p = self.gate(x).softmax(-1)
        top, idx = p.topk(self.k, -1)
        top = top / top.sum(-1, keepdim=True)
        w = torch.zeros_like(p).scatter(-1, idx, top)
        h = torch.einsum("btd,edh->beth", x, self.w1)
        y = torch.einsum("beth,ehd->betd", F.gelu(h), self.w2)
        aux = (p.mean((0, 1)) * (w > 0).float().mean((0, 1))).sum() * p.size(-1)
        return torch.einsum("bte,betd->btd", w, y), aux
class Net(nn.Module):
    def __init__(self, v=2000, d=256):
        super().__init__()
        self.emb, self.moe = nn.Embedding(v, d), nn.ModuleList(MoE(d) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(2))
        self.head = nn.Linear(d, v, bias=False)
    def forward(self, x):
        h, total = self.emb(x), 0.0
        for n, m in zip(self.norms, self.moe):
            y, a = m(n(h))
            h, total = h + y, total + a
        return self.head(h), total
m = Net().cuda(); f = torch.compile(m)
opt = torch.optim.AdamW(m.parameters(), lr=1e-3)
for _ in range(3):
    x = torch.randint(0, 2000, (4, 64), device="cuda")
    out, aux = f(x)
    loss = F.cross_entropy(out[:, :-1].flatten(0, 1), x[:, 1:].flatten()) + 0.01 * aux
    loss.backward()
    opt.step()
    opt.zero_grad()
