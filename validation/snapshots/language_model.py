"""A small language model of einsums, written from what recordings of it show."""
import math

import torch
from torch import nn


class Linear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_in, device="cuda"))

    def forward(self, x):
        return torch.einsum("...i,oi->...o", x, self.weight)


class Embedding(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, width, device="cuda"))

    def forward(self, ids):
        return self.weight[ids]


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, device="cuda"))

    def forward(self, x):
        rms = torch.sqrt(torch.mean(x ** 2, dim=-1, keepdim=True) + 1e-5)
        return x / rms * self.weight


class Rotary(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.cos = torch.zeros(longest, width // 2)
        self.sin = torch.zeros(longest, width // 2)

    def forward(self, x):
        n = x.shape[-2]
        sin = self.sin[:n].to(x.device)
        cos = self.cos[:n].to(x.device)
        first = x[..., 0::2] * cos - x[..., 1::2] * sin
        second = x[..., 0::2] * sin + x[..., 1::2] * cos
        return torch.cat([first, second], dim=-1)


class Softmax(nn.Module):
    def forward(self, x, dim):
        top = torch.max(x, dim=dim, keepdim=True).values
        return torch.exp(x - top) / torch.sum(torch.exp(x - top), dim=dim, keepdim=True)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = Softmax()

    def forward(self, q, k, v, mask):
        mask = mask.to(q.device)
        product = torch.einsum("...sd,...td->...st", q, k)
        scores = product / torch.sqrt(torch.tensor(q.shape[-1]).to(q.device))
        scores.masked_fill_(~mask.bool(), float("-inf"))
        weights = self.softmax(scores, -1)
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
        self.attention = Attention()

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.q(x), self.k(x), self.v(x)
        q = q.view(b, s, self.heads, d // self.heads).permute(0, 2, 1, 3)
        k = k.view(b, s, self.heads, d // self.heads).permute(0, 2, 1, 3)
        v = v.view(b, s, self.heads, d // self.heads).permute(0, 2, 1, 3)
        q = self.rotary(q)
        k = self.rotary(k)
        mask = torch.tril(torch.ones(s, s))
        x = self.attention(q, k, v, mask)
        x = x.permute(0, 2, 1, 3).reshape(b, s, d)
        return self.o(x)


class SiLU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1 = Linear(width, hidden)
        self.w2 = Linear(hidden, width)
        self.w3 = Linear(width, hidden)
        self.act = SiLU()

    def forward(self, x):
        gate = self.act(self.w1(x))
        up = self.w3(x)
        return self.w2(gate * up)


class Block(nn.Module):
    def __init__(self, width, heads, hidden, longest):
        super().__init__()
        self.norm1 = RMSNorm(width)
        self.norm2 = RMSNorm(width)
        self.attention = SelfAttention(width, heads, longest)
        self.feed = FeedForward(width, hidden)

    def forward(self, x):
        normed = self.norm1(x)
        attended = self.attention(normed)
        x = x + attended
        normed2 = self.norm2(x)
        fed = self.feed(normed2)
        return x + fed


class LanguageModel(nn.Module):
    def __init__(self, vocab=10000, width=512, layers=4, heads=16, hidden=1344, longest=256):
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


class CrossEntropy(nn.Module):
    def forward(self, logits, targets):
        top = torch.max(logits, dim=-1, keepdim=True).values
        log_probs = (logits - top) - torch.log(torch.sum(torch.exp(logits - top), dim=-1, keepdim=True))
        chosen = torch.zeros_like(log_probs)
        chosen.scatter_(1, targets.unsqueeze(1), 1)
        return -torch.sum(chosen * log_probs) / logits.shape[0]


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = {"m": torch.zeros_like(p), "v": torch.zeros_like(p)}

    def step(self):
        for group in self.param_groups:
            lr, (b1, b2), eps, decay = group["lr"], group["betas"], group["eps"], group["weight_decay"]
            for p in group["params"]:
                state = self.state[p]
                m = state["m"]
                state["m"] = b1 * m + (1 - b1) * p.grad.data
                v = state["v"]
                state["v"] = b2 * v + (1 - b2) * p.grad.data ** 2
                p.data = p.data - lr * (state["m"] / (torch.sqrt(state["v"]) + eps))
                p.data = p.data - lr * decay * p.data
