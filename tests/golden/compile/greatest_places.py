"""The greatest along a dimension, whose place backward needs: both are computed in the forward pass."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.norm = nn.Embedding(300, 96), nn.LayerNorm(96, elementwise_affine=False)
        self.wide, self.head = nn.Linear(96, 96), nn.Linear(96, 4)

    def forward(self, tokens):
        x = self.norm(torch.tanh(self.wide(self.token(tokens))))
        return self.head(x.max(dim=1).values)


torch.manual_seed(0)
model = torch.compile(Net().to("cuda"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    tokens, y = torch.randint(300, (8, 40), device="cuda"), torch.randint(4, (8,), device="cuda")
    loss = nn.functional.cross_entropy(model(tokens), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
