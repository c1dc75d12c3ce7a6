"""Normalization that several families share."""

import torch
from torch import nn


class RMSNorm(nn.Module):
    """as commonly hand-written: fp32 inside, weight after the down-cast"""

    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x.to(dtype)
