"""Poolings that read loops as they are, and one to a size that divides the image's."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.even, self.head = nn.AdaptiveMaxPool2d(4), nn.Linear(128, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.tanh(x), 2)
        x = nn.functional.max_pool2d(torch.sigmoid(self.first(x)), 2)
        return self.head(self.even(self.second(x).tanh()).flatten(1))


torch.manual_seed(0)
model = torch.compile(Net().to("cuda"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    x, y = torch.randn(4, 3, 64, 64, device="cuda"), torch.randint(10, (4,), device="cuda")
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
