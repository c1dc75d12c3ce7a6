"""A decoder of einsums, forward only, written from what a recording of it shows."""
import math

import torch
from torch import nn


class Linear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_in))

    def forward(self, x):
        return torch.einsum("...i,oi->...o", x, self.weight)


class Embedding(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, width))

    def forward(self, ids):
        return self.weight[ids, :]


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        rms = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        x = x * rms
        return self.weight * x


class Rotary(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.register_buffer("cos", torch.zeros(longest, width // 2), persistent=False)
        self.register_buffer("sin", torch.zeros(longest, width // 2), persistent=False)

    def forward(self, x):
        b, h, s, d = x.shape
        pairs = x.view(b, h, s, d // 2, 2)
        x1, x2 = pairs[..., 0], pairs[..., 1]
        cos, sin = self.cos[:s], self.sin[:s]
        first = cos * x1 - sin * x2
        second = sin * x1 + cos * x2
        return torch.cat([first, second], dim=-1)


def softmax(x, dim):
    rescaled = x - torch.max(x, dim=dim, keepdim=True)[0]
    exponents = torch.exp(rescaled)
    return exponents / torch.sum(exponents, dim=dim, keepdim=True)


def attention(q, k, v, mask):
    scores = torch.einsum("...sd,...td->...st", q, k) / math.sqrt(k.shape[-1])
    scores = torch.where(mask, scores, float("-inf"))
    weights = softmax(scores, dim=-1)
    return torch.einsum("...st,...td->...sd", weights, v)


class SelfAttention(nn.Module):
    def __init__(self, width, heads, longest):
        super().__init__()
        self.heads = heads
        self.q = Linear(width, width)
        self.k = Linear(width, width)
        self.v = Linear(width, width)
        self.o = Linear(width, width)
        self.rotary = Rotary(width // heads, longest)

    def split(self, x):
        b, s, d = x.shape
        return x.view(b, s, self.heads, d // self.heads).permute(0, 2, 1, 3)

    def forward(self, x):
        b, s, d = x.shape
        q = self.q(x)
        k = self.k(x)
        v = self.v(x)
        q, k, v = self.split(q), self.split(k), self.split(v)
        q = self.rotary(q)
        k = self.rotary(k)
        places = torch.arange(s, device=x.device)
        rows = places.view(1, 1, s, 1)
        columns = places.view(1, 1, 1, s)
        mask = rows >= columns
        out = attention(q, k, v, mask)
        out = out.permute(0, 2, 1, 3).reshape(b, s, d)
        return self.o(out)


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1 = Linear(width, hidden)
        self.w2 = Linear(hidden, width)
        self.w3 = Linear(width, hidden)

    def silu(self, x):
        return x * torch.sigmoid(x)

    def forward(self, x):
        return self.w2(self.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, longest):
        super().__init__()
        self.attention = SelfAttention(width, heads, longest)
        self.feed = FeedForward(width, hidden)
        self.norm1 = RMSNorm(width)
        self.norm2 = RMSNorm(width)

    def forward(self, x):
        attended = self.attention(self.norm1(x))
        middle = x + attended
        fed = self.feed(self.norm2(middle))
        return middle + fed


class Decoder(nn.Module):
    def __init__(self, vocab=10000, width=2560, layers=32, heads=32, hidden=10240, longest=512):
        super().__init__()
        self.embedding = Embedding(vocab, width)
        self.blocks = nn.ModuleList([Block(width, heads, hidden, longest) for _ in range(layers)])
        self.norm = RMSNorm(width)
        self.head = Linear(width, vocab)

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x)
