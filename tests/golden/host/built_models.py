"""Modules of many kinds as they are built, copied and averaged, and what is done with parameters there."""
import torch
from torch import nn

torch.zeros(1, device="cuda")
lstm = nn.LSTM(32, 64, 2)
gru = nn.GRU(32, 64)
transformer = nn.Transformer(64, 4, 2, 2, 128)
bag = nn.EmbeddingBag(100, 64)
weight = nn.init.trunc_normal_(torch.empty(50, 50))
weight = nn.init.xavier_normal_(torch.empty(50, 50))
average = torch.optim.swa_utils.AveragedModel(nn.Linear(100, 100))
average.update_parameters(nn.Linear(100, 100))
adam = torch.optim.AdamW(gru.parameters(), lr=1e-3)
for p in gru.parameters():
    p.grad = torch.ones_like(p)
norm = nn.utils.clip_grad_norm_(gru.parameters(), 1.0)
adam.step()
adam.zero_grad()
flat = nn.utils.parameters_to_vector(gru.parameters())
