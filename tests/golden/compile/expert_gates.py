"""Experts in one tensor each, gates that write by place; layer norms without a bias."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MoE(nn.Module):
    """experts in one tensor each, gates by softmax, all dense einsum"""

    def __init__(self, d, f, experts, k):
        super().__init__()
        self.k, self.e = k, experts
        self.gate = nn.Linear(d, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, d, f) * 0.02)
        self.w2 = nn.Parameter(torch.randn(experts, f, d) * 0.02)

    def forward(self, x):
        b, n, d = x.shape
        x = x.reshape(-1, d)
        probs = F.softmax(self.gate(x), dim=-1)
        weights, chosen = torch.topk(probs, self.k, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        full = torch.zeros_like(probs).scatter(1, chosen, weights)
        h = F.gelu(torch.einsum("td,edf->etf", x, self.w1))
        y = torch.einsum("etf,efd->etd", h, self.w2)
        out = torch.einsum("etd,te->td", y, full)
        load = F.one_hot(chosen, self.e).float().mean((0, 1))
        return out.view(b, n, d), (probs.mean(0) * load).sum() * self.e


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d, bias=False), nn.LayerNorm(d, bias=False)
        self.attn = nn.MultiheadAttention(d, h, batch_first=True, bias=False)
        self.moe = MoE(d, 2 * d, 4, 2)

    def forward(self, x, mask):
        y = self.n1(x)
        x = x + self.attn(y, y, y, attn_mask=mask, need_weights=False, is_causal=True)[0]
        y, aux = self.moe(self.n2(x))
        return x + y, aux


class Net(nn.Module):
    def __init__(self, vocab=1000, d=128, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(Block(d, 4) for _ in range(layers))
        self.head = nn.Linear(d, vocab)

    def forward(self, tokens, targets):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        x, total = self.embed(tokens), 0.0
        for block in self.blocks:
            x, aux = block(x, mask)
            total = total + aux
        loss = F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())
        return loss, total


model = torch.compile(Net().cuda())
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
for step in range(4):
    tokens = torch.randint(0, 1000, (8, 65), device="cuda")
    loss, aux = model(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
    (loss + 0.01 * aux).backward()
    opt.step()
    opt.zero_grad()
