"""An MLP with dropout and two activations, compiled by aot_eager; the loss is eager."""
import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(
    nn.Linear(784, 1024), nn.ReLU(), nn.Dropout(0.1), nn.Linear(1024, 1024), nn.GELU(), nn.Dropout(0.2), nn.Linear(1024, 10)
).cuda()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(512, 784, device="cuda"), torch.randint(0, 10, (512,), device="cuda")
    loss = F.cross_entropy(compiled(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
