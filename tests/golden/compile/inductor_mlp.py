"""A deep MLP with drops under bf16 autocast, by inductor"""
import torch
import torch.nn as nn
import torch.nn.functional as F

layers = [nn.Linear(256, 512)]
for _ in range(3):
    layers += [nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 512)]
layers += [nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 16)]
model = nn.Sequential(*layers).cuda()
model = torch.compile(model)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    x, y = torch.randn(512, 256, device="cuda"), torch.randint(0, 16, (512,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
