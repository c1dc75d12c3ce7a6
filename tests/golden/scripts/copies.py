import copy, torch
from torch import nn
m = nn.Sequential(nn.Linear(300, 300), nn.BatchNorm1d(300)).cuda()
x = torch.randn(64, 300, device="cuda")
m(x).sum().backward()
a = copy.deepcopy(m)
t = torch.ones(10, 10, device="cuda")
v = t[2:4]
d = copy.deepcopy({"t": t, "v": v})
w = torch.ones(5, device="cuda", requires_grad=True)
(w * 2).sum().backward()
w2 = copy.deepcopy(w)
print(a[0].weight.grad is None, w2.grad is None)
