"""warnings.warn in a called function."""
import warnings, torch, torch.nn as nn, torch.nn.functional as F
def scale(x, s):
    if s > 1:
        warnings.warn("large scale")
    return torch.sigmoid(x * s)
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.a = nn.Linear(300, 600); self.b = nn.Linear(600, 300)
    def forward(self, x):
        h = F.gelu(self.a(x))
        h = scale(h, 2.0) * h
        return self.b(h)
net = Net().cuda(); f = torch.compile(net); opt = torch.optim.AdamW(net.parameters())
for _ in range(3):
    x = torch.randn(500, 300, device="cuda")
    loss = F.mse_loss(f(x), x); loss.backward(); opt.step(); opt.zero_grad()
