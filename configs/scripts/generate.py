"""Generates texts with a small decoder that keeps keys and values: one call of the model a token."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, past):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x)), (k, v)


class Decoder(nn.Module):
    def __init__(self, vocabulary=32000, width=1024, layers=24, heads=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, past=None):
        x, cache = self.embed(tokens), []
        for i, block in enumerate(self.blocks):
            x, kept = block(x, past[i] if past else None)
            cache.append(kept)
        return self.head(x[:, -1]), cache


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--prompt", type=int, default=128)
parser.add_argument("--new-tokens", type=int, default=64)
options = parser.parse_args()

model = Decoder().to("cuda", torch.float16).eval()
tokens = torch.randint(0, 32000, (options.batch_size, options.prompt), device="cuda")
with torch.inference_mode():
    logits, past = model(tokens)
    for _ in range(options.new_tokens - 1):
        token = logits.argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, token], dim=1)
        logits, past = model(token, past)
print(f"{tokens.shape[0]} texts of {tokens.shape[1]} tokens")
