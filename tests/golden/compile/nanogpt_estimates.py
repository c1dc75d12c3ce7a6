"""nanoGPT with train/estimate_loss, accumulation, clip, GradScaler, autocast"""
import math
import torch
import torch.nn as nn
from torch.nn import functional as F
class LayerNorm(nn.Module):
    def __init__(self, ndim, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(ndim)); self.bias = nn.Parameter(torch.zeros(ndim)) if bias else None
    def forward(self, input):
        return F.layer_norm(input, self.weight.shape, self.weight, self.bias, 1e-5)
class Attn(nn.Module):
    def __init__(self, d, h, p, bias):
        super().__init__()
        self.c_attn = nn.Linear(d, 3*d, bias=bias); self.c_proj = nn.Linear(d, d, bias=bias)
        self.resid_dropout = nn.Dropout(p); self.h = h; self.p = p
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.h, C // self.h).transpose(1, 2)
        q = q.view(B, T, self.h, C // self.h).transpose(1, 2)
        v = v.view(B, T, self.h, C // self.h).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=self.p if self.training else 0, is_causal=True)
        return self.resid_dropout(self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C)))
class Block(nn.Module):
    def __init__(self, d, h, p, bias):
        super().__init__()
        self.ln_1 = LayerNorm(d, bias); self.attn = Attn(d, h, p, bias); self.ln_2 = LayerNorm(d, bias)
        self.c_fc = nn.Linear(d, 4*d, bias=bias); self.gelu = nn.GELU(); self.c_proj = nn.Linear(4*d, d, bias=bias); self.dropout = nn.Dropout(p)
    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.dropout(self.c_proj(self.gelu(self.c_fc(self.ln_2(x)))))
class GPT(nn.Module):
    def __init__(self, V=4096, T=256, d=256, h=8, L=3, p=0.0, bias=False):
        super().__init__()
        self.T = T
        self.transformer = nn.ModuleDict(dict(wte=nn.Embedding(V, d), wpe=nn.Embedding(T, d), drop=nn.Dropout(p), h=nn.ModuleList([Block(d, h, p, bias) for _ in range(L)]), ln_f=LayerNorm(d, bias)))
        self.lm_head = nn.Linear(d, V, bias=False)
        self.transformer.wte.weight = self.lm_head.weight
    def forward(self, idx, targets=None):
        b, t = idx.size()
        assert t <= self.T
        pos = torch.arange(0, t, dtype=torch.long, device=idx.device)
        x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        if targets is not None:
            logits = self.lm_head(x)
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        else:
            logits = self.lm_head(x[:, [-1], :]); loss = None
        return logits, loss
model = GPT().cuda()
opt = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
scaler = torch.amp.GradScaler("cuda", enabled=False)
ctx = torch.amp.autocast(device_type="cuda", dtype=torch.bfloat16)
model = torch.compile(model)
def batch():
    return torch.randint(0, 4096, (4, 256), device="cuda"), torch.randint(0, 4096, (4, 256), device="cuda")
@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(2)
        for k in range(2):
            X, Y = batch()
            with ctx:
                logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out
X, Y = batch()
for it in range(4):
    if it % 2 == 0:
        losses = estimate_loss()
    for micro in range(2):
        with ctx:
            logits, loss = model(X, Y)
            loss = loss / 2
        X, Y = batch()
        scaler.scale(loss).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt); scaler.update()
    opt.zero_grad(set_to_none=True)
