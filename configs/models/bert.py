"""BERT, as a masked language model."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from workloads import masked_tokens, run_blocks, token_loss, workload


class BertLayer(nn.Module):
    """post-norm encoder layer, separate q, k, v, hand-written attention with an additive mask"""

    def __init__(self, d, heads, ffn, dropout):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(d, d) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(d, eps=1e-12), nn.LayerNorm(d, eps=1e-12)
        self.intermediate, self.output = nn.Linear(d, ffn), nn.Linear(ffn, d)
        self.attn_drop, self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout), nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / math.sqrt(q.size(-1))
        scores = scores + mask
        probs = self.attn_drop(F.softmax(scores, dim=-1))
        ctx = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        ctx = ctx.view(x.size(0), x.size(1), -1)
        x = self.norm1(self.drop1(self.dense(ctx)) + x)
        h = F.gelu(self.intermediate(x))
        return self.norm2(self.drop2(self.output(h)) + x)


class Bert(nn.Module):
    checkpoint_mode = None

    def __init__(self, vocab, context, d, layers, heads, ffn, dropout):
        super().__init__()
        self.word, self.position, self.kind = nn.Embedding(vocab, d, padding_idx=0), nn.Embedding(context, d), nn.Embedding(2, d)
        self.norm, self.drop = nn.LayerNorm(d, eps=1e-12), nn.Dropout(dropout)
        self.blocks = nn.ModuleList(BertLayer(d, heads, ffn, dropout) for _ in range(layers))
        self.transform, self.transform_norm = nn.Linear(d, d), nn.LayerNorm(d, eps=1e-12)
        self.decoder = nn.Linear(d, vocab)
        self.decoder.weight = self.word.weight

    def forward(self, ids, mask):
        mask = (1.0 - mask[:, None, None, :].to(self.norm.weight.dtype)) * -10000.0
        pos = torch.arange(ids.size(1), device=ids.device)
        x = self.word(ids) + self.position(pos) + self.kind(torch.zeros_like(ids))
        x = run_blocks(self, self.drop(self.norm(x)), mask)
        x = self.transform_norm(F.gelu(self.transform(x)))
        return self.decoder(x)


@workload("bert", masked_tokens, token_loss, seq=128, vocab=30522, context=512, d=768, layers=12, heads=12, ffn=3072, dropout=0.1)
def bert(vocab, context, d, layers, heads, ffn, dropout):
    return Bert(vocab, context, d, layers, heads, ffn, dropout)
