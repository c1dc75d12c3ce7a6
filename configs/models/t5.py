"""A T5-like encoder and decoder."""

import torch
import torch.nn.functional as F
from torch import nn

from norms import RMSNorm
from workloads import token_loss, token_pairs, workload


class T5Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x, memory, bias):
        b, t, d = x.shape
        shape = lambda y: y.view(b, -1, self.heads, d // self.heads).transpose(1, 2)
        q, k, v = shape(self.q(x)), shape(self.k(memory)), shape(self.v(memory))
        scores = torch.matmul(q, k.transpose(3, 2))
        if bias is not None:
            scores = scores + bias
        w = F.softmax(scores.float(), dim=-1).type_as(scores)
        return self.o(torch.matmul(w, v).transpose(1, 2).contiguous().view(b, t, d))


class T5Layer(nn.Module):
    def __init__(self, d, heads, ffn, cross, dropout):
        super().__init__()
        self.norm1, self.attn = RMSNorm(d), T5Attention(d, heads)
        self.norm2, self.cross = (RMSNorm(d), T5Attention(d, heads)) if cross else (None, None)
        self.norm3, self.wi, self.wo, self.drop = RMSNorm(d), nn.Linear(d, ffn, bias=False), nn.Linear(ffn, d, bias=False), nn.Dropout(dropout)

    def forward(self, x, bias, memory=None):
        h = self.norm1(x)
        x = x + self.drop(self.attn(h, h, bias))
        if self.cross is not None:
            x = x + self.drop(self.cross(self.norm2(x), memory, None))
        return x + self.drop(self.wo(self.drop(F.relu(self.wi(self.norm3(x))))))


class T5(nn.Module):
    def __init__(self, vocab, d, layers, heads, ffn, dropout):
        super().__init__()
        self.d, self.shared = d, nn.Embedding(vocab, d)
        self.enc_bias, self.dec_bias = nn.Embedding(32, heads), nn.Embedding(32, heads)
        self.encoder = nn.ModuleList(T5Layer(d, heads, ffn, False, dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(T5Layer(d, heads, ffn, True, dropout) for _ in range(layers))
        self.enc_norm, self.dec_norm = RMSNorm(d), RMSNorm(d)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.lm_head.weight = self.shared.weight

    def bias(self, table, t, causal, device):
        rel = (torch.arange(t, device=device)[None, :] - torch.arange(t, device=device)[:, None]).abs().clamp(max=31)
        b = table(rel).permute(2, 0, 1).unsqueeze(0)
        if causal:
            b = b + torch.full((t, t), -1e4, device=device, dtype=b.dtype).triu(1)
        return b

    def forward(self, src, tgt):
        x = self.shared(src)
        bias = self.bias(self.enc_bias, src.size(1), False, src.device)
        for layer in self.encoder:
            x = layer(x, bias)
        memory = self.enc_norm(x)
        x = self.shared(tgt)
        bias = self.bias(self.dec_bias, tgt.size(1), True, tgt.device)
        for layer in self.decoder:
            x = layer(x, bias, memory)
        return self.lm_head(self.dec_norm(x) * self.d ** -0.5)


@workload("t5", token_pairs, token_loss, seq=128, vocab=32128, d=512, layers=6, heads=8, ffn=2048, dropout=0.1)
def t5(vocab, d, layers, heads, ffn, dropout):
    """encoder-decoder with relative-position bias shared by the layers; target length = seq // 2"""
    return T5(vocab, d, layers, heads, ffn, dropout)
