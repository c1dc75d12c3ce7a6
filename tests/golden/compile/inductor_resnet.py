"""A small residual net, channels last, under bf16 autocast, by inductor"""
import torch
import torch.nn.functional as F

from nets import ResNet

model = ResNet(classes=20).cuda().to(memory_format=torch.channels_last)
compiled = torch.compile(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(3):
    x = torch.randn(32, 3, 96, 96, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(0, 20, (32,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(compiled(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
