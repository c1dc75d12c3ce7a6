"""No GPU in the loop at all."""
import torch
from torch import nn

torch.zeros(1, device="cuda")
model = nn.Sequential(nn.Linear(100, 200), nn.Tanh(), nn.Linear(200, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(3):
    x, y = torch.randn(32, 100), torch.randn(32, 10)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept = x * 2 + 1
