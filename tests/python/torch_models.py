"""Modules as a user writes them, for test_from_torch.py."""
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SLOPE = 0.1


@dataclass
class Config:
    width: int = 64
    heads: int = 4
    depth: int = 2
    dropout: float = 0.1


def scaled(x, by):
    return x * by


class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.norm = nn.LayerNorm(config.width)
        self.qkv = nn.Linear(config.width, 3 * config.width, bias=False)
        self.out = nn.Linear(config.width, config.width)
        self.mlp = nn.Sequential(nn.LayerNorm(config.width), nn.Linear(config.width, 4 * config.width), nn.GELU(),
                                 nn.Linear(4 * config.width, config.width), nn.Dropout(config.dropout))
        self.scale = nn.Parameter(torch.ones(config.width))
        self.act = F.relu
        self.logger = object()  # nothing that forward reaches

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Annotations and docstrings play no part."""
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm(x)).split(w, dim=2)
        q, k, v = (z.view(b, t, self.config.heads, w // self.config.heads).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(b, t, w)
        x = x + self.out(self.act(y)) / math.sqrt(self.config.depth)
        return x + scaled(self.mlp(x), self.scale)


class LanguageModel(nn.Module):
    def __init__(self, config=Config(), vocabulary=1000):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, config.width)
        self.places = nn.Parameter(torch.zeros(128, config.width))
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.depth)])
        self.head = nn.Linear(config.width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("mask", torch.ones(3, dtype=torch.bool), persistent=False)
        self.apply(self.initialise)

    def initialise(self, module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(x).transpose(1, 2)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(inplace=True),
                                 nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(64, 10)
        for parameter in self.net[4].parameters():
            parameter.requires_grad_(False)

    def forward(self, x):
        return self.head(F.leaky_relu(self.net(x), SLOPE))


class Attentive(nn.Module):
    """With layers of torch.nn that are made of others."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(2))
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x.mean(1))


def closed_over(width):
    """A class that uses a variable of the function around it: its source alone does not run."""

    class Closed(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(width, width)

        def forward(self, x):
            return self.fc(x).view(-1, width)

    return Closed()


class Unmodelled(nn.Module):
    def forward(self, x):
        return torch.linalg.eigvals(x)
