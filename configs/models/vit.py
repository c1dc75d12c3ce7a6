"""The Vision Transformer."""

import torch
import torch.nn.functional as F
from torch import nn

from workloads import class_loss, images, run_blocks, workload


class ViTBlock(nn.Module):
    def __init__(self, d, heads, ratio, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.qkv, self.proj = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.norm2, self.fc1, self.act, self.fc2 = nn.LayerNorm(d), nn.Linear(d, ratio * d), nn.GELU(), nn.Linear(ratio * d, d)
        self.drop = nn.Dropout(dropout)

    def attention(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(b, n, c))

    def forward(self, x):
        x = x + self.drop(self.attention(self.norm1(x)))
        return x + self.drop(self.fc2(self.act(self.fc1(self.norm2(x)))))


class ViT(nn.Module):
    checkpoint_mode = None

    def __init__(self, image, patch, d, layers, heads, classes, dropout):
        super().__init__()
        self.patch = nn.Conv2d(3, d, patch, patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.pos = nn.Parameter(torch.zeros(1, (image // patch) ** 2 + 1, d))
        self.blocks = nn.ModuleList(ViTBlock(d, heads, 4, dropout) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
        x = self.norm(run_blocks(self, x))
        return self.head(x[:, 0])


@workload("vit", images, class_loss, image=224, side=224, patch=16, d=384, layers=12, heads=6, classes=1000, dropout=0.0)
def vit(side, patch, d, layers, heads, classes, dropout):
    """ViT-S/16 by default"""
    return ViT(side, patch, d, layers, heads, classes, dropout)
