"""graph breaks: print, item, graph_break, disabled function"""
import torch, torch.nn as nn, torch.nn.functional as F
@torch.compiler.disable
def log_stats(h):
    return h.abs().mean()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(256, 1024); self.b = nn.Linear(1024, 1024); self.c = nn.Linear(1024, 512); self.d = nn.Linear(512, 10)
        self.n = nn.LayerNorm(1024)
    def forward(self, x):
        h = F.gelu(self.a(x))
        print("shape", h.shape)
        h = F.gelu(self.n(self.b(h))) + h
        torch._dynamo.graph_break()
        s = log_stats(h)
        h = torch.tanh(self.c(h)) * s
        return self.d(h)
net = Net().cuda()
model = torch.compile(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    x = torch.randn(512, 256, device="cuda"); y = torch.randint(0, 10, (512,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward(); opt.step(); opt.zero_grad()
