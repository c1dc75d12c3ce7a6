"""A vision transformer as CUDA graphs: results lie where inputs lay; the gradient of its patches comes with gaps"""

import torch, torch.nn as nn, torch.nn.functional as F
class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__(); self.n1, self.n2, self.a = nn.LayerNorm(d), nn.LayerNorm(d), nn.MultiheadAttention(d, h, batch_first=True)
        self.m = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
    def forward(self, x):
        y = self.n1(x); x = x + self.a(y, y, y, need_weights=False)[0]
        return x + self.m(self.n2(x))
class ViT(nn.Module):
    def __init__(self, d=192, n=3, p=8, s=64):
        super().__init__(); self.p = nn.Conv2d(3, d, p, p); self.cls = nn.Parameter(torch.zeros(1, 1, d)); self.pos = nn.Parameter(torch.zeros(1, (s // p) ** 2 + 1, d))
        self.b, self.n, self.h = nn.Sequential(*(Block(d, 4) for _ in range(n))), nn.LayerNorm(d), nn.Linear(d, 10)
    def forward(self, x):
        x = self.p(x).flatten(2).transpose(1, 2); x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), 1) + self.pos
        return self.h(self.n(self.b(x))[:, 0])
m = ViT().cuda(); f = torch.compile(m, mode="reduce-overhead")
opt = torch.optim.AdamW(m.parameters(), lr=1e-3, capturable=False)
for _ in range(5):
    x, y = torch.randn(16, 3, 64, 64, device="cuda"), torch.randint(0, 10, (16,), device="cuda")
    loss = F.cross_entropy(f(x), y); opt.zero_grad(set_to_none=True); loss.backward(); opt.step()
