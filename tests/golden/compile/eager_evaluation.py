"""Norms by aot_eager, trained and evaluated: what nobody wants of a tuple goes when it is taken apart"""

import torch, torch.nn as nn, torch.nn.functional as F
m = nn.Sequential(nn.Linear(256, 600), nn.BatchNorm1d(600), nn.ReLU(), nn.Dropout(0.3), nn.Linear(600, 300), nn.LayerNorm(300), nn.GELU(), nn.Dropout(0.1), nn.Linear(300, 20)).cuda()
f = torch.compile(m, backend="aot_eager"); opt = torch.optim.Adam(m.parameters(), lr=1e-3)
for _ in range(3):
    x, y = torch.randn(512, 256, device="cuda"), torch.randint(0, 20, (512,), device="cuda")
    loss = F.cross_entropy(f(x), y); opt.zero_grad(); loss.backward(); opt.step()
m.eval()
with torch.no_grad():
    for _ in range(2): f(torch.randn(512, 256, device="cuda")).softmax(-1)
