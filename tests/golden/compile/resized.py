"""An image that is resized bilinearly between convolutions."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, stride=2, padding=1)
        self.last = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, x):
        hidden = F.relu(self.first(x))
        hidden = F.interpolate(hidden, scale_factor=2, mode="bilinear", align_corners=False)
        return self.last(hidden)


model = torch.compile(Net().cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(4, 3, 64, 64, device="cuda")
    loss = F.mse_loss(model(x), x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
