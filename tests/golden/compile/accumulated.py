"""Gradients of two batches are added up, under fp16 autocast with a scaler."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(256, 1024)
        self.b = nn.Linear(1024, 1024)
        self.c = nn.Linear(1024, 64)
        self.n = nn.LayerNorm(1024)

    def forward(self, x):
        x = F.gelu(self.a(x))
        x = x + F.gelu(self.b(self.n(x)))
        return self.c(x)

model = torch.compile(Net().cuda())
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
scaler = torch.amp.GradScaler("cuda")
for step in range(3):
    for micro in range(2):
        x = torch.randn(512, 256, device="cuda")
        y = torch.randint(0, 64, (512,), device="cuda")
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y) / 2
        scaler.scale(loss).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
