"""A GPT in bfloat16 whose queries, keys and values are unpacked from one tensor."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attn(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.p = h, p
        self.qkv, self.proj = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0, is_causal=True)
        return self.drop(self.proj(y.transpose(1, 2).reshape(B, T, C)))


class Block(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d, bias=False), nn.LayerNorm(d, bias=False)
        self.attn = Attn(d, h, p)
        self.fc, self.proj, self.drop = nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False), nn.Dropout(p)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.drop(self.proj(F.relu(self.fc(self.ln2(x))).square()))


class GPT(nn.Module):
    def __init__(self, v=5000, d=192, h=6, n=3, t=128, p=0.1):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(v, d), nn.Embedding(t, d)
        self.h = nn.ModuleList(Block(d, h, p) for _ in range(n))
        self.ln_f, self.lm_head = nn.LayerNorm(d, bias=False), nn.Linear(d, v, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1], device=idx.device))
        for b in self.h:
            x = b(x)
        logits = self.lm_head(self.ln_f(x)).float()
        logits = 30 * torch.tanh(logits / 30)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


model = GPT().cuda().bfloat16()
model = torch.compile(model, dynamic=False)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True)
for step in range(3):
    for micro in range(2):
        x = torch.randint(0, 5000, (4, 129), device="cuda")
        loss = model(x[:, :-1].contiguous(), x[:, 1:].contiguous()) / 2
        loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
