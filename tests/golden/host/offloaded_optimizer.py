"""Master weights and Adam's state on the host: gradients come down, new weights go up."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 16)).to("cuda")
masters = [p.detach().to("cpu").requires_grad_() for p in model.parameters()]
optimizer = torch.optim.Adam(masters, lr=1e-3)
for step in range(2):
    x = torch.randn(64, 256, device="cuda")
    model(x).square().mean().backward()
    for master, p in zip(masters, model.parameters()):
        master.grad = p.grad.cpu()
        p.grad = None
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        for master, p in zip(masters, model.parameters()):
            p.copy_(master)
