"""A small residual net, channels first: inductor lays its convolutions out channels last"""
import torch
import torch.nn.functional as F

from nets import ResNet

model = ResNet(classes=20, width=32).cuda()
compiled = torch.compile(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(3):
    x = torch.randn(8, 3, 96, 96, device="cuda")
    y = torch.randint(0, 20, (8,), device="cuda")
    loss = F.cross_entropy(compiled(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
