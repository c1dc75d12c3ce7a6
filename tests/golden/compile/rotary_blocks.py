"""Blocks of a Llama compiled one by one, as torchtitan does; positions are complex pairs that are stacked."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.checkpoint import checkpoint


def precompute(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    t = torch.arange(end)
    freqs = torch.outer(t, freqs).float()
    return freqs.cos(), freqs.sin()


def rotate(x, cos, sin):
    a, b = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)
    cos, sin = cos[None, : x.shape[1], None, :], sin[None, : x.shape[1], None, :]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2).type_as(x)


class Attention(nn.Module):
    def __init__(self, dim, heads, kv):
        super().__init__()
        self.heads, self.kv, self.hd = heads, kv, dim // heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, kv * self.hd, bias=False)
        self.wv = nn.Linear(dim, kv * self.hd, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x, cos, sin):
        bs, n, _ = x.shape
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        q = rotate(q.view(bs, n, -1, self.hd), cos, sin)
        k = rotate(k.view(bs, n, -1, self.hd), cos, sin)
        v = v.view(bs, n, -1, self.hd)
        rep = self.heads // self.kv
        k = k[:, :, :, None, :].expand(bs, n, self.kv, rep, self.hd).reshape(bs, n, self.heads, self.hd)
        v = v[:, :, :, None, :].expand(bs, n, self.kv, rep, self.hd).reshape(bs, n, self.heads, self.hd)
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return self.wo(y.transpose(1, 2).contiguous().view(bs, n, -1))


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(dim, hidden, bias=False), nn.Linear(hidden, dim, bias=False), nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, dim, heads, kv):
        super().__init__()
        self.attention, self.feed_forward = Attention(dim, heads, kv), FeedForward(dim, 768)
        self.attention_norm, self.ffn_norm = nn.RMSNorm(dim, eps=1e-5), nn.RMSNorm(dim, eps=1e-5)

    def forward(self, x, cos, sin):
        h = x + self.attention(self.attention_norm(x), cos, sin)
        return h + self.feed_forward(self.ffn_norm(h))


class Transformer(nn.Module):
    def __init__(self, vocab=2048, dim=256, layers=3, heads=8, kv=2, length=256):
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleDict({str(i): Block(dim, heads, kv) for i in range(layers)})
        self.norm = nn.RMSNorm(dim, eps=1e-5)
        self.output = nn.Linear(dim, vocab, bias=False)
        cos, sin = precompute(dim // heads, length)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for layer in self.layers.values():
            h = layer(h, self.cos, self.sin)
        return self.output(self.norm(h))


def cross_entropy_loss(pred, labels):
    return F.cross_entropy(pred.flatten(0, 1).float(), labels.flatten(0, 1))


model = Transformer().cuda().to(torch.bfloat16)
for name, block in model.layers.named_children():
    model.layers.register_module(name, torch.compile(block, fullgraph=True))
loss_fn = torch.compile(cross_entropy_loss)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
for step in range(3):
    tokens = torch.randint(0, 2048, (4, 257), device="cuda")
    pred = model(tokens[:, :-1])
    loss = loss_fn(pred, tokens[:, 1:])
    del pred
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
