"""A diffusion U-Net: convolutions read gradients of joined images, which are slices."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def timestep_embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class Res(nn.Module):
    def __init__(self, i, o, e):
        super().__init__()
        self.n1, self.c1 = nn.GroupNorm(8, i), nn.Conv2d(i, o, 3, padding=1)
        self.emb = nn.Linear(e, 2 * o)
        self.n2, self.c2 = nn.GroupNorm(8, o), nn.Conv2d(o, o, 3, padding=1)
        self.skip = nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x, e):
        h = self.c1(F.silu(self.n1(x)))
        scale, shift = self.emb(F.silu(e))[:, :, None, None].chunk(2, dim=1)
        h = self.n2(h) * (1 + scale) + shift
        return self.skip(x) + self.c2(F.silu(h))


class Attn(nn.Module):
    def __init__(self, c, heads=4):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(8, c), heads
        self.qkv, self.proj = nn.Conv2d(c, 3 * c, 1), nn.Conv2d(c, c, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, 3, self.heads, c // self.heads, h * w).unbind(1)
        y = F.scaled_dot_product_attention(q.transpose(-1, -2), k.transpose(-1, -2), v.transpose(-1, -2))
        return x + self.proj(y.transpose(-1, -2).reshape(b, c, h, w))


class UNet(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        e = 4 * c
        self.c = c
        self.time = nn.Sequential(nn.Linear(c, e), nn.SiLU(), nn.Linear(e, e))
        self.inp = nn.Conv2d(3, c, 3, padding=1)
        self.d1, self.down1 = Res(c, c, e), nn.Conv2d(c, c, 3, 2, 1)
        self.d2, self.a2, self.down2 = Res(c, 2 * c, e), Attn(2 * c), nn.Conv2d(2 * c, 2 * c, 3, 2, 1)
        self.m1, self.ma, self.m2 = Res(2 * c, 2 * c, e), Attn(2 * c), Res(2 * c, 2 * c, e)
        self.up2, self.u2 = nn.Conv2d(2 * c, 2 * c, 3, padding=1), Res(4 * c, c, e)
        self.up1, self.u1 = nn.Conv2d(c, c, 3, padding=1), Res(2 * c, c, e)
        self.out = nn.Sequential(nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, 3, 3, padding=1))

    def forward(self, x, t):
        e = self.time(timestep_embedding(t, self.c))
        h1 = self.d1(self.inp(x), e)
        h2 = self.a2(self.d2(self.down1(h1), e))
        h = self.m2(self.ma(self.m1(self.down2(h2), e)), e)
        h = self.up2(F.interpolate(h, scale_factor=2.0, mode="nearest"))
        h = self.u2(torch.cat([h, h2], dim=1), e)
        h = self.up1(F.interpolate(h, scale_factor=2.0, mode="nearest"))
        h = self.u1(torch.cat([h, h1], dim=1), e)
        return self.out(h)


model = UNet().cuda()
ema = {k: v.clone() for k, v in model.state_dict().items()}
betas = torch.linspace(1e-4, 0.02, 1000, device="cuda")
acp = torch.cumprod(1 - betas, 0)
net = torch.compile(model)
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(1):
    x0 = torch.randn(8, 3, 32, 32, device="cuda")
    t = torch.randint(0, 1000, (8,), device="cuda")
    noise = torch.randn_like(x0)
    a = acp[t][:, None, None, None]
    xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
    loss = F.mse_loss(net(xt, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for k, v in model.state_dict().items():
            ema[k].lerp_(v, 0.001)
