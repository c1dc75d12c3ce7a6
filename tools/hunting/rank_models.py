"""Models of the drawn programs of many ranks: text of classes, and what a loop needs to know of them."""

import dataclasses

HEAD = """import contextlib
import functools
import os
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
%s
dist.init_process_group("nccl"%s)
device = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(device)
rank, world = dist.get_rank(), dist.get_world_size()
"""


@dataclasses.dataclass
class Net:
    """`code` defines the class Net and its block class `block`; `x` makes a batch, `loss` is of `out` and `x`"""

    code: str
    x: str
    loss: str
    block: str = "Block"
    blocks: str = "blocks"
    args: str = ""
    width: int = 0
    layers: int = 2
    batch: int = 4
    length: int = 64
    vocab: int = 1000


def attention(r, bias):
    style = r.pick("fused", "fused", "split", "math")
    b = "" if bias else ", bias=False"
    drop = r.pick("0.0", "0.1")
    if style == "split":
        make = f"self.q, self.k, self.v = (nn.Linear(d, d{b}) for _ in range(3))"
        take = "q, k, v = (f(x).view(b, t, self.h, -1).transpose(1, 2) for f in (self.q, self.k, self.v))"
    else:
        make = f"self.qkv = nn.Linear(d, 3 * d{b})"
        take = "q, k, v = (z.view(b, t, self.h, -1).transpose(1, 2) for z in self.qkv(x).split(c, dim=2))"
    if style == "math":
        join = "y = torch.softmax((q @ k.transpose(-2, -1)) * (q.size(-1) ** -0.5), dim=-1) @ v"
    else:
        join = f"y = F.scaled_dot_product_attention(q, k, v, dropout_p={drop} if self.training else 0.0, is_causal=True)"
    return f"""
class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        {make}
        self.o = nn.Linear(d, d{b})

    def forward(self, x):
        b, t, c = x.shape
        {take}
        {join}
        return self.o(y.transpose(1, 2).reshape(b, t, c))
"""


def feed_forward(r, bias):
    b = "" if bias else ", bias=False"
    if r.chance(0.4):
        act = r.pick("F.silu", "F.gelu", "F.relu")
        return f"""
class MLP(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(d, f{b}), nn.Linear(f, d{b}), nn.Linear(d, f{b})

    def forward(self, x):
        return self.w2({act}(self.w1(x)) * self.w3(x))
"""
    act = r.pick("F.gelu(%s)", "F.gelu(%s, approximate='tanh')", "F.relu(%s).square()", "F.silu(%s)", "F.relu(%s)")
    end = r.pick("", "self.drop")
    out = "self.w2(" + act % "self.w1(x)" + ")"
    return f"""
class MLP(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.w1, self.w2, self.drop = nn.Linear(d, f{b}), nn.Linear(f, d{b}), nn.Dropout({r.pick("0.0", "0.1")})

    def forward(self, x):
        return {end + "(" + out + ")" if end else out}
"""


def transformer(r, small=False, plain=False, recompute=None):
    """a decoder; `plain`: nothing tied or left out; `recompute`: how often its blocks are"""
    bias = r.chance(0.6)
    norm = r.pick("nn.LayerNorm", "nn.LayerNorm", "nn.RMSNorm")
    h = r.pick(2, 4, 8)
    d = h * r.pick(16, 32, 64) if not r.chance(0.15) else h * r.pick(24, 40, 66)
    f = r.pick(4, 2, 3) * d
    vocab, layers = r.pick(1000, 1501, 2048, 3000), r.randint(1, 2 if small else 4)
    batch, length = r.pick(2, 3, 4, 8), r.pick(32, 64, 100, 128, 256)
    place = r.chance(0.5)
    tied = not plain and r.chance(0.25)
    recompute = (r.chance(0.15) if recompute is None else recompute) and not plain
    embed = "self.embed(x)" + (" + self.place.weight[:x.shape[1]]" if place else "")
    call = "block(x)"
    if recompute:
        call = "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"
    code = attention(r, bias) + feed_forward(r, bias) + f"""

class Block(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        self.ln1, self.attn, self.ln2, self.mlp = {norm}(d), Attention(d, h), {norm}(d), MLP(d, f)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Net(nn.Module):
    def __init__(self, vocab={vocab}, d={d}, h={h}, f={f}, layers={layers}):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
{f"        self.place = nn.Embedding({max(length, 256)}, d)" + chr(10) if place else ""}        self.blocks = nn.ModuleList(Block(d, h, f) for _ in range(layers))
        self.norm, self.head = {norm}(d), nn.Linear(d, vocab, bias={r.pick("True", "False") if not tied else "False"})
{"        self.head.weight = self.embed.weight" + chr(10) if tied else ""}
    def forward(self, x):
        x = {embed}
        for block in self.blocks:
            x = {call}
        return self.head(self.norm(x))
"""
    if recompute:
        code = "import torch.utils.checkpoint\n" + code
    x = f"torch.randint(0, {vocab}, ({batch}, {length}), device='cuda')"
    loss = r.pick("F.cross_entropy(out.flatten(0, 1), x.flatten())", "F.cross_entropy(out.float().flatten(0, 1), x.flatten())",
                  f"F.cross_entropy(out.view(-1, {vocab}), x.view(-1))")
    return Net(code, x, loss, width=d, layers=layers, batch=batch, length=length, vocab=vocab)


def images(r):
    w, size, batch, classes = r.pick(16, 24, 32), r.pick(16, 32, 33), r.pick(4, 8, 16), r.pick(10, 50)
    act = r.pick("F.relu(%s)", "F.relu(%s, inplace=True)", "F.silu(%s)")
    layers = r.randint(1, 3)
    code = f"""
class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.c1, self.n1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.c2, self.n2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.short = nn.Conv2d(i, o, 1, stride, bias=False) if i != o else nn.Identity()

    def forward(self, x):
        y = self.n2(self.c2({act % "self.n1(self.c1(x))"}))
        return {act % "y + self.short(x)"}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, {w}, 3, 1, 1), nn.BatchNorm2d({w}), nn.ReLU())
        self.blocks = nn.Sequential(*[Block({w} * 2 ** i, {w} * 2 ** (i + 1), 2) for i in range({layers})])
        self.fc = nn.Linear({w} * 2 ** {layers}, {classes})

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean((2, 3)))
"""
    return Net(code, f"torch.randn({batch}, 3, {size}, {size}, device='cuda')",
               f"F.cross_entropy(out, torch.zeros({batch}, dtype=torch.long, device='cuda'))", layers=layers, batch=batch)


def perceptron(r):
    d, layers, batch = r.pick(64, 100, 256, 333), r.randint(2, 5), r.pick(8, 32, 33)
    norm = r.pick("nn.Identity()", "nn.LayerNorm(d)", "nn.BatchNorm1d(d)")
    code = f"""
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.n, self.b = nn.Linear(d, 2 * d), {norm}, nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.n(self.b({r.pick("F.relu", "F.gelu", "torch.tanh")}(self.a(x))))


class Net(nn.Module):
    def __init__(self, d={d}):
        super().__init__()
        self.inp = nn.Linear(20, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range({layers}))
        self.out = nn.Linear(d, 7)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x)
"""
    return Net(code, f"torch.randn({batch}, 20, device='cuda')", r.pick("out.square().mean()", "out.sum()", f"F.mse_loss(out, torch.zeros({batch}, 7, device='cuda'))"),
               layers=layers, batch=batch, width=d)


def encoder(r):
    h, layers = r.pick(2, 4), r.randint(1, 3)
    d, vocab, batch, length = 32 * h, r.pick(500, 2000), r.pick(4, 6), r.pick(32, 77)
    code = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding({vocab}, {d}, padding_idx=0)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer({d}, {h}, {4 * d}, dropout={r.pick("0.0", "0.1")}, activation="{r.pick("relu", "gelu")}", batch_first=True, norm_first={r.chance(0.5)}) for _ in range({layers}))
        self.pooler, self.classify = nn.Linear({d}, {d}), nn.Linear({d}, 5)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.classify(torch.tanh(self.pooler(x[:, 0])))
"""
    return Net(code, f"torch.randint(0, {vocab}, ({batch}, {length}), device='cuda')", f"F.cross_entropy(out, torch.zeros({batch}, dtype=torch.long, device='cuda'))",
               block="nn.TransformerEncoderLayer", layers=layers, batch=batch, width=d)


def any_net(r, norms=True):
    kind = r.weighted(transformer=5, perceptron=2, encoder=1.5, images=1.5 if norms else 0)
    return {"transformer": transformer, "perceptron": perceptron, "encoder": encoder, "images": images}[kind](r)


def optimizer(r, params="model.parameters()", plain=False):
    kinds = ["torch.optim.AdamW(%s, lr=3e-4)", "torch.optim.AdamW(%s, lr=3e-4)", "torch.optim.Adam(%s, lr=1e-3)", "torch.optim.SGD(%s, lr=0.1, momentum=0.9)",
             "torch.optim.SGD(%s, lr=0.1)", "torch.optim.AdamW(%s, lr=1e-3, foreach=False)", "torch.optim.AdamW(%s, lr=1e-3, fused=True)"]
    if not plain:
        kinds += ["torch.optim.Adagrad(%s, lr=0.01)", "torch.optim.RMSprop(%s, lr=0.01)", "torch.optim.AdamW(%s, lr=1e-3, amsgrad=True)", "torch.optim.Adam(%s, lr=1e-3, weight_decay=0.1)",
                  "torch.optim.SGD(%s, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)", "torch.optim.NAdam(%s, lr=1e-3)"]
    return r.choice(kinds) % params
