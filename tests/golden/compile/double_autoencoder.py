"""An autoencoder of linear layers with batch norm 1d, MSE, RMSprop; fullgraph; fp64."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
m = nn.Sequential(nn.Linear(784, 512), nn.BatchNorm1d(512), nn.ELU(), nn.Linear(512, 64), nn.Tanh(),
    nn.Linear(64, 512), nn.BatchNorm1d(512), nn.ELU(), nn.Linear(512, 784)).cuda()
c = torch.compile(m, fullgraph=True)
opt = torch.optim.RMSprop(m.parameters(), lr=0.001, momentum=0.9)
for _ in range(4):
    x = torch.randn(512, 784, device="cuda")
    loss = F.mse_loss(c(x), x)
    loss.backward()
    opt.step()
    opt.zero_grad()
