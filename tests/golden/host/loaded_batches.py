"""A data set in host memory, its batches put together by a loader."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(100, 3, 8, 8), torch.zeros(100, dtype=torch.long))
model = nn.Sequential(nn.Flatten(), nn.Linear(192, 10)).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=32):
        x, y = x.to("cuda"), y.to("cuda")
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
