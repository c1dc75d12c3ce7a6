"""a recommender that takes the pairs of its features out of their products by two indices"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, sizes=(1000, 5000, 200, 3000), width=32, dense=13):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(n, width) for n in sizes)
        self.bottom = nn.Sequential(nn.Linear(dense, 128), nn.ReLU(), nn.Linear(128, width), nn.ReLU())
        n = len(sizes) + 1
        self.top = nn.Sequential(nn.Linear(n * (n - 1) // 2 + width, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1))
        i, j = torch.tril_indices(n, n, offset=-1)
        self.register_buffer("i", i)
        self.register_buffer("j", j)

    def forward(self, x, categories):
        dense = self.bottom(x)
        features = [embedding(categories[:, k]) for k, embedding in enumerate(self.embeddings)]
        z = torch.stack([dense] + features, dim=1)
        pairs = torch.bmm(z, z.transpose(1, 2))[:, self.i, self.j]
        return self.top(torch.cat([dense, pairs], dim=1)).squeeze(-1)


model = Net().cuda()
compiled = torch.compile(model)
opt = torch.optim.Adagrad(model.parameters(), lr=0.01)
for _ in range(4):
    x = torch.randn(512, 13, device="cuda")
    categories = torch.randint(0, 200, (512, 4), device="cuda")
    y = torch.randint(0, 2, (512,), device="cuda").float()
    loss = F.binary_cross_entropy_with_logits(compiled(x, categories), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
