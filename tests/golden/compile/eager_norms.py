"""Batch norms by aot_eager: they copy their running statistics, and give the copies anew"""

import torch, torch.nn.functional as F
from nets import ResNet
m = ResNet().cuda()
f = torch.compile(m, backend="aot_eager")
opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
for _ in range(3):
    x, y = torch.randn(16, 3, 64, 64, device="cuda"), torch.randint(0, 50, (16,), device="cuda")
    loss = F.cross_entropy(f(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
