"""the graph breaks at .item(), and where a tensor decides"""
import torch, torch.nn as nn, torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(256, 1024); self.b = nn.Linear(1024, 1024); self.d = nn.Linear(1024, 10)
    def forward(self, x):
        h = F.relu(self.a(x))
        scale = h.norm().item()
        h = h * 2.0
        if h.sum() > 100.0:
            h = self.b(h)
        else:
            h = F.relu(self.b(h)) + h
        return self.d(h)
net = torch.compile(Net().cuda())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    x = torch.randn(512, 256, device="cuda"); y = torch.randint(0, 10, (512,), device="cuda")
    loss = F.cross_entropy(net(x), y)
    loss.backward(); opt.step(); opt.zero_grad()
