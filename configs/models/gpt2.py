"""GPT-2."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from workloads import run_blocks, token_loss, tokens, workload


class GPTBlock(nn.Module):
    def __init__(self, d, heads, dropout, bias, attention):
        super().__init__()
        self.heads, self.p, self.kind = heads, dropout, attention
        self.ln_1, self.c_attn, self.c_proj = nn.LayerNorm(d, bias=bias), nn.Linear(d, 3 * d, bias=bias), nn.Linear(d, d, bias=bias)
        self.ln_2, self.c_fc, self.gelu, self.c_proj2 = nn.LayerNorm(d, bias=bias), nn.Linear(d, 4 * d, bias=bias), nn.GELU(), nn.Linear(4 * d, d, bias=bias)
        self.attn_dropout, self.resid_dropout, self.dropout = nn.Dropout(dropout), nn.Dropout(dropout), nn.Dropout(dropout)

    def attn(self, x):
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(c, dim=2)
        k = k.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        q = q.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        v = v.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        if self.kind == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=self.p if self.training else 0, is_causal=True)
        else:
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            mask = torch.tril(torch.ones(t, t, device=x.device)).view(1, 1, t, t)
            att = att.masked_fill(mask == 0, float("-inf"))
            att = F.softmax(att, dim=-1)
            att = self.attn_dropout(att)
            y = att @ v
        y = y.transpose(1, 2).contiguous().view(b, t, c)
        return self.resid_dropout(self.c_proj(y))

    def mlp(self, x):
        x = self.c_fc(x)
        x = self.gelu(x)
        x = self.c_proj2(x)
        return self.dropout(x)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class GPT(nn.Module):
    checkpoint_mode = None

    def __init__(self, vocab, context, d, layers, heads, dropout, bias, attention, tied):
        super().__init__()
        self.wte, self.wpe, self.drop = nn.Embedding(vocab, d), nn.Embedding(context, d), nn.Dropout(dropout)
        self.blocks = nn.ModuleList(GPTBlock(d, heads, dropout, bias, attention) for _ in range(layers))
        self.ln_f, self.lm_head = nn.LayerNorm(d, bias=bias), nn.Linear(d, vocab, bias=False)
        if tied:
            self.wte.weight = self.lm_head.weight

    def forward(self, idx):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
        x = self.drop(self.wte(idx) + self.wpe(pos))
        x = self.ln_f(run_blocks(self, x))
        return self.lm_head(x)


@workload("gpt2", tokens, token_loss, seq=256, vocab=50304, context=1024, d=768, layers=12, heads=12, dropout=0.0, bias=True,
          attention="sdpa", tied=True)
def gpt2(vocab, context, d, layers, heads, dropout, bias, attention, tied):
    """GPT-2 small by default; attention=manual: matmul, scale, masked_fill, softmax, dropout, matmul"""
    return GPT(vocab, context, d, layers, heads, dropout, bias, attention, tied)
