"""Model and loss in one compiled function, by the decorator: activations, dropout, a classifier. whole_loss.py [BACKEND]"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

backend = sys.argv[1] if len(sys.argv) > 1 else "inductor"
model = nn.Sequential(nn.Linear(512, 2048), nn.SiLU(), nn.LayerNorm(2048), nn.Dropout(0.2), nn.Linear(2048, 2048),
                      nn.Tanh(), nn.Dropout(0.2), nn.Linear(2048, 128)).cuda()  # fmt: skip


@torch.compile(backend=backend, fullgraph=True)
def step(x, y):
    return F.cross_entropy(model(x), y, label_smoothing=0.1)


optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for i in range(3):
    x, y = torch.randn(2048, 512, device="cuda"), torch.randint(0, 128, (2048,), device="cuda")
    loss = step(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
