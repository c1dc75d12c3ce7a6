"""A BERT with drops, its attention written out over a mask that is added."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.h, self.hd = h, d // h
        self.dropout = nn.Dropout(0.1)

    def heads(self, x):
        return x.view(x.size(0), x.size(1), self.h, self.hd).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.hd)
        scores = scores + mask
        probs = self.dropout(nn.functional.softmax(scores, dim=-1))
        ctx = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return ctx.view(x.size(0), x.size(1), -1)


class Layer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.att = SelfAttention(d, h)
        self.out = nn.Linear(d, d)
        self.n1 = nn.LayerNorm(d, eps=1e-12)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.n2 = nn.LayerNorm(d, eps=1e-12)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        x = self.n1(x + self.drop(self.out(self.att(x, mask))))
        return self.n2(x + self.drop(self.down(F.gelu(self.up(x)))))


class Bert(nn.Module):
    def __init__(self, d=128, h=4):
        super().__init__()
        self.word, self.pos, self.kind = nn.Embedding(3000, d, padding_idx=0), nn.Embedding(128, d), nn.Embedding(2, d)
        self.norm, self.drop = nn.LayerNorm(d, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer(d, h) for _ in range(2))
        self.pool, self.cls = nn.Linear(d, d), nn.Linear(d, 2)

    def forward(self, ids, mask):
        pos = torch.arange(ids.size(1), device=ids.device).unsqueeze(0)
        x = self.drop(self.norm(self.word(ids) + self.pos(pos) + self.kind(torch.zeros_like(ids))))
        m = (1.0 - mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, m)
        return self.cls(torch.tanh(self.pool(x[:, 0])))


model = torch.compile(Bert().cuda())
opt = torch.optim.AdamW(model.parameters(), lr=5e-5)
for step in range(3):
    ids = torch.randint(0, 3000, (8, 128), device="cuda")
    mask = torch.ones(8, 128, dtype=torch.long, device="cuda")
    y = torch.randint(0, 2, (8,), device="cuda")
    loss = F.cross_entropy(model(ids, mask), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
