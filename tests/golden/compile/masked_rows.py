"""A vision transformer with a mask whose rows are padded, evaluated."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(256, 768, bias=False)
        self.proj = nn.Linear(256, 256, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        qkv = self.qkv(x).reshape(b, t, 3, 4, 64).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        mask = torch.full((t, t), float('-inf'), device=x.device, dtype=q.dtype).triu(1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1 if self.training else 0.0)
        y = y.transpose(1, 2).contiguous().view(b, t, 256)
        return self.proj(y)


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(256, 768, bias=False), nn.Linear(768, 256, bias=False), nn.Linear(256, 768, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(256), nn.LayerNorm(256)
        self.attn, self.feed = Attention(), Feed()

    def forward(self, x):
        y = self.attn(self.n1(x))
        x = x + y
        y = self.feed(self.n2(x))
        x = x + y
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 256, 4, 4)
        self.pos = nn.Parameter(torch.zeros(1, 65, 256))
        self.cls = nn.Parameter(torch.zeros(1, 1, 256))
        self.blocks = nn.Sequential(*[Block() for _ in range(3)])
        self.norm = nn.LayerNorm(256, elementwise_affine=False)
        self.head = nn.Linear(256, 2)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1)
        x = x + self.pos
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x.max(dim=1).values)


def make():
    model = Net()
    return model


model = make().to('cuda')
model = torch.compile(model)
b = 1
model.eval()
for step in range(2):
    with torch.inference_mode():
        x0 = torch.zeros(b, 3, 32, 32).to('cuda')
        y = torch.zeros(b, dtype=torch.long).to('cuda')
        out = model(x0)
