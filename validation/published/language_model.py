"""GPT-2 as a textbook writes it and made faster step by step, after what rasbt/LLMs-from-scratch (ch05/10_llm-training-speed)
says of each run. Written from that description: the order in which memory is asked for is what counts here."""
import math

import torch
from torch import nn
from torch.nn import functional as F

SIZES = {"small": (768, 12, 12), "medium": (1024, 24, 16), "large": (1280, 36, 20), "xl": (1600, 48, 25)}


class HandNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        norm = (x - mean) / torch.sqrt(var + 1e-5)
        return self.scale * norm + self.shift


class HandGelu(nn.Module):
    def forward(self, x):
        root = torch.sqrt(torch.tensor(2.0 / math.pi))
        return 0.5 * x * (1 + torch.tanh(root * (x + 0.044715 * torch.pow(x, 3))))


class HandAttention(nn.Module):
    """mask: "kept" for each layer, or "made" in each forward pass"""

    def __init__(self, width, heads, context, dropout, mask, bias):
        super().__init__()
        self.width, self.heads = width, heads
        self.query, self.key, self.value = (nn.Linear(width, width, bias=bias) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        if mask == "kept":
            self.register_buffer("mask", torch.triu(torch.ones(context, context), diagonal=1))

    def forward(self, x):
        b, n, _ = x.shape
        keys, queries, values = self.key(x), self.query(x), self.value(x)
        keys = keys.view(b, n, self.heads, -1)
        values = values.view(b, n, self.heads, -1)
        queries = queries.view(b, n, self.heads, -1)
        keys, queries, values = keys.transpose(1, 2), queries.transpose(1, 2), values.transpose(1, 2)
        scores = queries @ keys.transpose(2, 3)
        if hasattr(self, "mask"):
            masked = self.mask.bool()[:n, :n]
        else:
            masked = torch.triu(torch.ones(n, n, dtype=torch.bool, device=x.device), diagonal=1)
        scores.masked_fill_(masked, -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        weights = self.dropout(weights)
        x = (weights @ values).transpose(1, 2)
        x = x.reshape(b, n, self.width)
        return self.out(x)


class FusedAttention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.width, self.heads, self.dropout = width, heads, dropout
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)

    def forward(self, x):
        b, n, _ = x.shape
        qkv = self.qkv(x)
        qkv = qkv.view(b, n, 3, self.heads, -1)
        qkv = qkv.permute(2, 0, 3, 1, 4)
        queries, keys, values = qkv
        x = F.scaled_dot_product_attention(queries, keys, values, dropout_p=self.dropout if self.training else 0.0,
                                           is_causal=True)
        x = x.transpose(1, 2).contiguous().view(b, n, self.width)
        return self.out(x)


class Block(nn.Module):
    def __init__(self, width, heads, context, dropout, how):
        super().__init__()
        norm = HandNorm if how["by_hand"] else nn.LayerNorm
        if how["attention"] == "sdpa":
            self.att = FusedAttention(width, heads, dropout)
        else:
            self.att = HandAttention(width, heads, context, dropout, how["mask"], how["bias"])
        gelu = HandGelu() if how["by_hand"] else nn.GELU(approximate="tanh")
        self.ff = nn.Sequential(nn.Linear(width, 4 * width), gelu, nn.Linear(4 * width, width))
        self.norm1, self.norm2, self.drop = norm(width), norm(width), nn.Dropout(dropout)

    def forward(self, x):
        shortcut = x
        x = self.norm1(x)
        x = self.att(x)
        x = self.drop(x)
        x = x + shortcut
        shortcut = x
        x = self.norm2(x)
        x = self.ff(x)
        x = self.drop(x)
        x = x + shortcut
        return x


class Gpt(nn.Module):
    def __init__(self, size, vocab, context, dropout, how):
        super().__init__()
        width, layers, heads = SIZES[size]
        self.tok, self.pos = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*[Block(width, heads, context, dropout, how) for _ in range(layers)])
        self.norm = HandNorm(width) if how["by_hand"] else nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, index):
        _, n = index.shape
        tokens = self.tok(index)
        places = self.pos(torch.arange(n, device=index.device))
        x = tokens + places
        x = self.drop(x)
        x = self.blocks(x)
        x = self.norm(x)
        logits = self.head(x)
        return logits


def loss_of(model, batch, vocab, context):
    inputs = torch.randint(vocab, (batch, context)).to("cuda")
    targets = torch.randint(vocab, (batch, context)).to("cuda")
    logits = model(inputs)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def evaluate(model, batch, vocab, context):
    model.eval()
    with torch.no_grad():
        for _ in ("train", "validation"):
            loss_of(model, batch, vocab, context).item()
    model.train()


def generate(model, context):
    model.eval()
    index = torch.randint(100, (1, 4)).to("cuda")
    for _ in range(50):
        with torch.no_grad():
            logits = model(index[:, -context:])
        logits = logits[:, -1, :]
        index = torch.cat((index, torch.argmax(logits, dim=-1, keepdim=True)), dim=1)
    index.squeeze(0).tolist()
    model.train()


def train(mark, size, vocab, context, batch, dropout, how, steps):
    """Steps, an evaluation after the first and the last; between the marks "from" and "to" lie what was timed."""
    if how["tf32"]:
        torch.set_float32_matmul_precision("high")
    model = Gpt(size, vocab, context, dropout, how)
    if how["compiled"]:
        model = torch.compile(model)
    model.to("cuda")
    if how["bf16"]:
        model.to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.1, fused=True if how["fused"] else None)
    model.train()
    for step in range(steps + 1):
        optimizer.zero_grad()
        loss = loss_of(model, batch, vocab, context)
        loss.backward()
        optimizer.step()
        if step in (0, steps):
            torch.cuda.synchronize()
            mark("from" if step == 0 else "to")
            evaluate(model, batch, vocab, context)
    generate(model, context)
    mark("end")


def forward_and_backward(mark, size, vocab, context, batch, dropout, how):
    """One pass of a model in bfloat16, the sum of its output as its loss."""
    index = torch.randint(0, vocab, (batch, context), device="cuda")
    model = Gpt(size, vocab, context, dropout, how).bfloat16().to("cuda")
    model.train()
    torch.cuda.synchronize()
    mark("from")
    output = model(index)
    loss = output.sum()
    loss.backward()
    torch.cuda.synchronize()
    mark("to")
