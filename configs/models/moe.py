"""A Llama-like decoder with a mixture of experts in each layer (Mixtral), each expert with room for as many rows."""

import torch
import torch.nn.functional as F
from torch import nn

from llama import Llama, LlamaLayer
from workloads import token_loss_fp32, tokens, workload


class Experts(nn.Module):
    """(experts, rows, width): an entry of the first dimension goes through the expert of that number"""

    def __init__(self, count, d, ffn):
        super().__init__()
        self.gate, self.up = nn.Parameter(torch.randn(count, d, ffn) * 0.02), nn.Parameter(torch.randn(count, d, ffn) * 0.02)
        self.down = nn.Parameter(torch.randn(count, ffn, d) * 0.02)

    def forward(self, x):
        return torch.bmm(F.silu(torch.bmm(x, self.gate)) * torch.bmm(x, self.up), self.down)


class Mixture(nn.Module):
    """`capacity` 1: room for a token's share of every expert; rows that find no room are left out"""

    def __init__(self, count, chosen, capacity, d, ffn):
        super().__init__()
        self.count, self.chosen, self.capacity = count, chosen, capacity
        self.router, self.experts = nn.Linear(d, count, bias=False), Experts(count, d, ffn)

    def forward(self, x):
        rows = x.flatten(0, 1)
        share, chosen = self.router(rows).softmax(-1).topk(self.chosen)
        room = int(self.chosen * rows.shape[0] * self.capacity / self.count + 0.999999)
        chosen = chosen.flatten()
        place = (F.one_hot(chosen, self.count).cumsum(0) - 1).gather(1, chosen[:, None])[:, 0]
        place = torch.where(place < room, chosen * room + place, self.count * room)
        sent = rows.new_zeros(self.count * room + 1, rows.shape[1]).index_add(0, place, rows.repeat_interleave(self.chosen, 0))
        made = self.experts(sent[:-1].view(self.count, room, -1)).flatten(0, 1)
        made = torch.cat([made, made.new_zeros(1, made.shape[1])])[place] * share.flatten()[:, None].to(made.dtype)
        return made.view(rows.shape[0], self.chosen, -1).sum(1).view(x.shape)


class MoELayer(LlamaLayer):
    def __init__(self, d, heads, kv_heads, ffn, norm, gqa, experts, chosen, capacity):
        super().__init__(d, heads, kv_heads, 1, norm, gqa)
        del self.gate_proj, self.up_proj, self.down_proj
        self.mixture = Mixture(experts, chosen, capacity, d, ffn)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.input_norm(x), cos, sin)
        return x + self.mixture(self.post_norm(x))


class MoE(Llama):
    def __init__(self, vocab, d, layers, heads, kv_heads, ffn, experts, chosen=2, capacity=1.25, norm="module", gqa=True):
        super().__init__(vocab, d, 0, heads, kv_heads, ffn, norm, gqa)
        self.blocks = nn.ModuleList(
            MoELayer(d, heads, kv_heads, ffn, norm, gqa, experts, chosen, capacity) for _ in range(layers)
        )


@workload("moe", tokens, token_loss_fp32, seq=256, vocab=32000, d=1024, layers=4, heads=16, kv_heads=4, ffn=2048, experts=8,
          chosen=2, capacity=1.25)
def moe(vocab, d, layers, heads, kv_heads, ffn, experts, chosen, capacity):
    """chosen: experts a token; capacity: rows that an expert has room for, 1: as many as come on average"""
    return MoE(vocab, d, layers, heads, kv_heads, ffn, experts, chosen, capacity)
