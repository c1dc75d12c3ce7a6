"""A loss over the classes of each place; the logits are a convolution's."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(16, 64, 3, padding=1)
        self.head = nn.Conv1d(64, 40, 1)

    def forward(self, x, y):
        return F.cross_entropy(self.head(F.gelu(self.conv(x))), y)


model = torch.compile(Net().cuda())
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    x = torch.randn(32, 16, 300, device="cuda")
    loss = model(x, torch.randint(0, 40, (32, 300), device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
