"""A Llama-like decoder."""

import torch
import torch.nn.functional as F
from torch import nn

from norms import RMSNorm
from workloads import run_blocks, token_loss_fp32, tokens, workload


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


class LlamaLayer(nn.Module):
    def __init__(self, d, heads, kv_heads, ffn, norm, gqa):
        super().__init__()
        self.heads, self.kv, self.hd, self.gqa = heads, kv_heads, d // heads, gqa
        make = {"hand": RMSNorm, "module": nn.RMSNorm}[norm]
        self.input_norm, self.post_norm = make(d), make(d)
        self.q_proj, self.o_proj = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.k_proj, self.v_proj = nn.Linear(d, kv_heads * self.hd, bias=False), nn.Linear(d, kv_heads * self.hd, bias=False)
        self.gate_proj, self.up_proj, self.down_proj = nn.Linear(d, ffn, bias=False), nn.Linear(d, ffn, bias=False), nn.Linear(ffn, d, bias=False)

    def repeat_kv(self, x):
        n = self.heads // self.kv
        if n == 1:
            return x
        b, h, t, d = x.shape
        return x[:, :, None, :, :].expand(b, h, n, t, d).reshape(b, h * n, t, d)

    def attention(self, x, cos, sin):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, -1, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(b, t, -1, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(b, t, -1, self.hd).transpose(1, 2)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        if self.gqa:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            y = F.scaled_dot_product_attention(q, self.repeat_kv(k), self.repeat_kv(v), is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, -1))

    def forward(self, x, cos, sin):
        residual = x
        x = residual + self.attention(self.input_norm(x), cos, sin)
        residual = x
        x = self.post_norm(x)
        return residual + self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Llama(nn.Module):
    checkpoint_mode = None

    def __init__(self, vocab, d, layers, heads, kv_heads, ffn, norm, gqa):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(LlamaLayer(d, heads, kv_heads, ffn, norm, gqa) for _ in range(layers))
        self.norm = {"hand": RMSNorm, "module": nn.RMSNorm}[norm](d)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        hd = d // heads
        self.register_buffer("inv_freq", 1.0 / (10000.0 ** (torch.arange(0, hd, 2).float() / hd)), persistent=False)

    @torch.no_grad()
    def rope(self, x, t):
        pos = torch.arange(t, device=x.device)[None, :].float()
        freqs = pos[:, :, None] * self.inv_freq.float()[None, None, :]
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos().to(x.dtype)[:, None], emb.sin().to(x.dtype)[:, None]

    def forward(self, idx):
        x = self.embed(idx)
        cos, sin = self.rope(x, idx.size(1))
        x = self.norm(run_blocks(self, x, cos, sin))
        return self.lm_head(x)


@workload("llama", tokens, token_loss_fp32, seq=256, vocab=32000, d=1024, layers=8, heads=16, kv_heads=4, ffn=2816, norm="hand", gqa=False)
def llama(vocab, d, layers, heads, kv_heads, ffn, norm, gqa):
    """norm=hand|module; gqa: let SDPA repeat the key/value heads; the loss takes logits.float()"""
    return Llama(vocab, d, layers, heads, kv_heads, ffn, norm, gqa)
