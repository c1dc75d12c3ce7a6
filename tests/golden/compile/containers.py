"""Containers of PyTorch's own, whose call is not compiled: the parts of the program's own in them are, each by itself."""

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        a, b = self.up(x).chunk(2, dim=-1)
        return x + self.down(torch.sigmoid(a) * torch.tanh(b))


torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(24, 64), nn.SELU(), nn.Sequential(Gate(64), nn.LayerNorm(64)), Gate(64), nn.Softplus(), nn.Linear(64, 10)
)
model = model.to("cuda")
model.compile()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(3):
    x, y = torch.randn(128, 24, device="cuda"), torch.randint(10, (128,), device="cuda")
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
with torch.no_grad():
    model(torch.randn(96, 24, device="cuda"))
