"""Activations in place, which autograd keeps a copy for; mish and elu."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(64, 256), nn.Linear(256, 256), nn.Linear(256, 256)
        self.relu6, self.hardswish = nn.ReLU6(inplace=True), nn.Hardswish(inplace=True)
        self.out = nn.Linear(256, 10)

    def forward(self, x):
        x = self.relu6(self.a(x))
        x = self.hardswish(self.b(x))
        x = F.elu(F.mish(self.c(x)))
        return self.out(x)


model = torch.compile(Net().cuda())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(128, 64, device="cuda"), torch.randint(0, 10, (128,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
