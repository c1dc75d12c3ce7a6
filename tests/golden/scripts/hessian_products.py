"""Hessian-vector products of a transformer, learning to learn with batch norm, and gradients of gradients of rare operators."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call
from torch.nn.attention import SDPBackend, sdpa_kernel


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).chunk(3, -1)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        with sdpa_kernel(SDPBackend.MATH):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Language(nn.Module):
    def __init__(self, words=100, width=32):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(16, width)
        self.blocks = nn.Sequential(Block(width, 4), Block(width, 4))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        return self.head(self.norm(self.blocks(x)))


def hessian_vector_product():
    model = Language().cuda()
    tokens = torch.randint(0, 100, (4, 16), device="cuda")
    loss = F.cross_entropy(model(tokens).view(-1, 100), tokens.view(-1))
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(loss, parameters, create_graph=True)
    vectors = [torch.randn_like(parameter) for parameter in parameters]
    dot = sum((g * v).sum() for g, v in zip(gradients, vectors))
    return torch.autograd.grad(dot, parameters)


def learn_to_learn():
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(8 * 14 * 14, 5)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(2):
        optimizer.zero_grad()
        images, labels = torch.randn(10, 1, 28, 28, device="cuda"), torch.randint(0, 5, (10,), device="cuda")
        fast = dict(model.named_parameters())
        for _ in range(2):
            loss = F.cross_entropy(functional_call(model, fast, (images,)), labels)
            gradients = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: p - 0.1 * g for (name, p), g in zip(fast.items(), gradients)}
        F.cross_entropy(functional_call(model, fast, (images,)), labels).backward()
        optimizer.step()


def twice(value, *inputs):
    gradients = torch.autograd.grad(value, inputs, create_graph=True)
    sum(g.pow(2).sum() for g in gradients).backward()


products = hessian_vector_product()
learn_to_learn()
words, score = nn.Embedding(50, 16, padding_idx=0).cuda(), nn.Linear(16, 1).cuda()
places, wanted = torch.randint(0, 50, (4, 7), device="cuda"), torch.rand(4, 7, 1, device="cuda")
twice(F.binary_cross_entropy_with_logits(score(words(places)), wanted), words.weight, score.weight)
x = torch.randn(6, 10, device="cuda", requires_grad=True)
w = torch.randn(6, 10, device="cuda", requires_grad=True)
at = torch.randint(0, 6, (6, 3), device="cuda")
twice(x.tanh().gather(1, at).pow(2).sum(), x)
twice(x.tanh().index_select(0, at[:, 0]).pow(2).sum(), x)
twice(x.tanh()[at[:, 1]].pow(2).sum(), x)
twice(x.tanh().max(dim=1).values.pow(2).sum(), x)
twice(x.tanh().amax(1).pow(2).sum(), x)
twice(torch.addcmul(x, w, x.exp(), value=0.5).pow(2).sum(), x)
twice(torch.addcdiv(x, w, x.exp() + 1).sum(), x)
twice(torch.lerp(x, w, 0.3).pow(2).sum(), x)
twice(torch.lerp(x, w, x.sigmoid()).sum(), x)
twice(torch.atan2(x, w).sum(), x)
