"""a network whose graph breaks where it prints, branches and says so, with a norm that is bounded below"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(128, 256), nn.Linear(256, 256), nn.Linear(256, 10)

    def forward(self, x):
        h = F.relu(self.a(x))
        print("mean", h.mean().item())
        if h.sum() > 0:
            h = self.b(h).tanh()
        else:
            h = self.b(h).sigmoid()
        n = h.norm(dim=-1, keepdim=True).clamp(min=1e-6)
        torch._dynamo.graph_break()
        return self.c(h / n)


model = Net().cuda()
compiled = torch.compile(model)
opt = torch.optim.Adam(model.parameters())
for _ in range(4):
    x = torch.randn(512, 128, device="cuda")
    y = torch.randint(0, 10, (512,), device="cuda")
    loss = F.cross_entropy(compiled(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
