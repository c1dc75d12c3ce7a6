"""Attention within windows that are rolled, as Swin has it."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Swin(nn.Module):
    def __init__(self, d, h, w, shift):
        super().__init__()
        self.h, self.w, self.shift = h, w, shift
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.bias = nn.Parameter(torch.zeros((2 * w - 1) ** 2, h))
        c = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(w), indexing="ij")).flatten(1)
        r = (c[:, :, None] - c[:, None, :]).permute(1, 2, 0) + w - 1
        self.register_buffer("index", r[..., 0] * (2 * w - 1) + r[..., 1])
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, H, W, d = x.shape
        w, n = self.w, self.w * self.w
        y = self.n1(x)
        if self.shift:
            y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
        y = y.view(b, H // w, w, W // w, w, d).permute(0, 1, 3, 2, 4, 5).reshape(-1, n, d)
        q, k, v = self.qkv(y).reshape(-1, n, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4).unbind(0)
        a = (q * (d // self.h) ** -0.5) @ k.transpose(-2, -1)
        a = a + self.bias[self.index.view(-1)].view(n, n, -1).permute(2, 0, 1).unsqueeze(0)
        y = (a.softmax(-1) @ v).transpose(1, 2).reshape(-1, n, d)
        y = self.proj(y).view(b, H // w, W // w, w, w, d).permute(0, 1, 3, 2, 4, 5).reshape(b, H, W, d)
        if self.shift:
            y = torch.roll(y, (self.shift, self.shift), (1, 2))
        x = x + y
        return x + self.mlp(self.n2(x))


class Merge(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * d), nn.Linear(4 * d, 2 * d, bias=False)

    def forward(self, x):
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        return self.reduce(self.norm(x))


class Net(nn.Module):
    def __init__(self, d=64, classes=20):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, d, 4, 4), nn.LayerNorm(d)
        self.body = nn.Sequential(Swin(d, 2, 4, 0), Swin(d, 2, 4, 2), Merge(d))
        self.out, self.head = nn.LayerNorm(2 * d), nn.Linear(2 * d, classes)

    def forward(self, x):
        x = self.norm(self.stem(x).permute(0, 2, 3, 1))
        return self.head(self.out(self.body(x)).mean((1, 2)))


model = Net().cuda()
net = torch.compile(model, dynamic=False)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    x, y = torch.randn(16, 3, 64, 64, device="cuda"), torch.randint(0, 20, (16,), device="cuda")
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
