"""nn.TransformerEncoder with drops over an embedding."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5000, 128)
        self.pos = nn.Parameter(torch.zeros(1, 64, 128))
        layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(128, 4)

    def forward(self, x):
        h = self.emb(x) + self.pos
        return self.head(self.encoder(h).mean(1))


model = torch.compile(Classifier().cuda())
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randint(0, 5000, (32, 64), device="cuda")
    y = torch.randint(0, 4, (32,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
