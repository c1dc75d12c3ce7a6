"""A recommendation model: embedding bags and dot products."""

import torch
import torch.nn.functional as F
from torch import nn

from workloads import workload


class DLRM(nn.Module):
    """bottom MLP, embedding bags, pairwise dot products, top MLP"""

    def __init__(self, tables, rows, d, dense, sparse):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(dense, 512), nn.ReLU(), nn.Linear(512, d), nn.ReLU())
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows, d, mode="sum", sparse=sparse) for _ in range(tables))
        n = tables + 1
        self.top = nn.Sequential(nn.Linear(d + n * (n - 1) // 2, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))
        i, j = torch.tril_indices(n, n, offset=-1)
        self.register_buffer("flat", i * n + j)

    def forward(self, dense, ids):
        x = self.bottom(dense)
        feats = torch.stack([x] + [t(ids[:, i]) for i, t in enumerate(self.tables)], dim=1)
        dots = torch.bmm(feats, feats.transpose(1, 2)).flatten(1)
        pairs = torch.index_select(dots, 1, self.flat)
        return self.top(torch.cat([x, pairs], dim=1)).squeeze(1)


def clicks(batch, image, seq, a):
    return [torch.zeros(batch, a["dense"]), torch.zeros(batch, a["tables"], 4, dtype=torch.long), torch.zeros(batch)]


@workload("dlrm", clicks, lambda out, y: F.binary_cross_entropy_with_logits(out, y), tables=8, rows=100000, d=64, dense=13, sparse=False)
def dlrm(tables, rows, d, dense, sparse):
    return DLRM(tables, rows, d, dense, sparse)
