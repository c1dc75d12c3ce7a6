"""a function of the program's own in a compiled network: it is traced as its code"""
import torch, torch.nn as nn, torch.nn.functional as F
class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        s = torch.sigmoid(x)
        return g * (s * (1 + x * (1 - s)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(256, 1024); self.b = nn.Linear(1024, 1024); self.c = nn.Linear(1024, 10)
    def forward(self, x):
        return self.c(Swish.apply(self.b(Swish.apply(self.a(x)))))
net = torch.compile(Net().cuda())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    x = torch.randn(512, 256, device="cuda"); y = torch.randint(0, 10, (512,), device="cuda")
    loss = F.cross_entropy(net(x), y)
    loss.backward(); opt.step(); opt.zero_grad()
