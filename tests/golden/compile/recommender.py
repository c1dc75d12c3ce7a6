"""Tables of embeddings; products of all pairs of them; Adagrad."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class DLRM(nn.Module):
    def __init__(self, fields=8, rows=2000, d=32, dense=13):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(rows, d) for _ in range(fields)])
        self.bot = nn.Sequential(nn.Linear(dense, 128), nn.ReLU(), nn.Linear(128, d), nn.ReLU())
        n = fields + 1
        self.top = nn.Sequential(nn.Linear(n * (n - 1) // 2 + d, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1))
        li, lj = zip(*[(i, j) for i in range(n) for j in range(i)])
        self.register_buffer("li", torch.tensor(li))
        self.register_buffer("lj", torch.tensor(lj))

    def forward(self, dense, sparse):
        x = self.bot(dense)
        e = [t(sparse[:, i]) for i, t in enumerate(self.tables)]
        T = torch.stack([x] + e, dim=1)
        Z = torch.bmm(T, T.transpose(1, 2))
        z = Z[:, self.li, self.lj]
        return self.top(torch.cat([x, z], dim=1)).squeeze(1)

model = torch.compile(DLRM().cuda())
opt = torch.optim.Adagrad(model.parameters(), lr=0.01)
for step in range(3):
    dense = torch.randn(512, 13, device="cuda")
    sparse = torch.randint(0, 2000, (512, 8), device="cuda")
    y = torch.rand(512, device="cuda").round()
    loss = F.binary_cross_entropy_with_logits(model(dense, sparse), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
