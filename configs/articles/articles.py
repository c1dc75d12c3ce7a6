"""The models of the articles' scenarios, and the training step that they share. Plain PyTorch; `phase` and `mark` are Tidemark's."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class ConvFc(nn.Module):
    """a 3x3 convolution without padding, ReLU, a linear layer; 3x32x32 images"""

    def __init__(self, channels=16, width=128):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, channels, 3), nn.Linear(channels * 900, width)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


class TwoConv(nn.Module):
    """two 3x3 convolutions, each with ReLU and pooling, then a linear layer; `features` is what reaches it"""

    def __init__(self, features=64 * 6 * 6):
        super().__init__()
        self.c1, self.r1, self.p1 = nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2)
        self.c2, self.r2, self.p2 = nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)
        self.fc = nn.Linear(features, 10)

    def forward(self, x):
        x = self.p1(self.r1(self.c1(x)))
        x = self.p2(self.r2(self.c2(x)))
        x = x.view(x.size(0), -1)
        x = self.fc(x)
        return x


def mlp(inputs, width, layers, classes=10, activation=True):
    """`layers` hidden linear layers, a ReLU after each, and one more"""
    modules, size = [], inputs
    for _ in range(layers):
        modules += [nn.Linear(size, width)] + ([nn.ReLU()] if activation else [])
        size = width
    return nn.Sequential(*modules, nn.Linear(size, classes))


class Block(nn.Module):
    """a residual block: two 3x3 convolutions, or 1x1, 3x3, 1x1 as a bottleneck"""

    def __init__(self, inputs, width, stride, bottleneck, inplace=True):
        super().__init__()
        outputs = width * 4 if bottleneck else width
        if bottleneck:
            shapes = [(inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1)]
        else:
            shapes = [(inputs, width, 3, stride), (width, width, 3, 1)]
        self.convs = nn.ModuleList(nn.Conv2d(a, b, k, s, k // 2, bias=False) for a, b, k, s in shapes)
        self.bns = nn.ModuleList(nn.BatchNorm2d(b) for _, b, _, _ in shapes)
        self.relu = nn.ReLU(inplace=inplace)
        self.down = None
        if stride != 1 or inputs != outputs:
            self.down = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        out = x
        for i, (c, b) in enumerate(zip(self.convs, self.bns)):
            out = c(out)
            out = b(out)
            if i + 1 < len(self.convs):
                out = self.relu(out)
        identity = x if self.down is None else self.down(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    """ResNet-18, -50 or -152 of the paper; 3x224x224 images"""

    def __init__(self, depth=18, classes=1000, inplace=True):
        super().__init__()
        counts, bottleneck = {18: ((2, 2, 2, 2), False), 50: ((3, 4, 6, 3), True), 152: ((3, 8, 36, 3), True)}[depth]
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=inplace),
                                  nn.MaxPool2d(3, 2, 1))
        blocks, size = [], 64
        for stage, count in enumerate(counts):
            width = 64 << stage
            for i in range(count):
                blocks.append(Block(size, width, 2 if i == 0 and stage else 1, bottleneck, inplace))
                size = width * 4 if bottleneck else width
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(size, classes)

    def forward(self, x):
        x = self.stem(x)
        x = self.blocks(x)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.fc(x)


class EncLM(nn.Module):
    """a transformer encoder over tokens with a linear head to the vocabulary"""

    def __init__(self, d=512, heads=8, layers=6, vocab=10000, ff=2048, checkpointed=False):
        super().__init__()
        self.e = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(d, heads, ff, 0.1, batch_first=True) for _ in range(layers))
        self.head = nn.Linear(d, vocab)
        self.checkpointed = checkpointed

    def forward(self, i):
        x = self.e(i)
        for l in self.layers:
            x = checkpoint(l, x, use_reentrant=False) if self.checkpointed else l(x)
        return self.head(x)


class Int8Linear(nn.Module):
    """weights kept as int8 with a scale a row, widened in every call"""

    def __init__(self, linear):
        super().__init__()
        self.register_buffer("w", torch.zeros(linear.weight.shape, dtype=torch.int8, device=linear.weight.device))
        self.register_buffer("scale", torch.zeros(linear.weight.shape[0], 1, dtype=torch.float16, device=linear.weight.device))
        self.register_buffer("b", linear.bias.detach().half())

    def forward(self, x):
        return F.linear(x, self.w.to(x.dtype) * self.scale, self.b)


def lm_loss(out, y):
    return F.cross_entropy(out.flatten(0, 1), y.flatten())


def images(batch):
    return torch.randn(batch, 3, 224, 224, device="cuda"), torch.randint(0, 1000, (batch,), device="cuda")


def tokens(batch, length, vocab=10000):
    return (torch.randint(0, vocab, (batch, length), device="cuda") for _ in range(2))


def train_step(model, loss_fn, x, y, opt, label=None, name=""):
    """one training step; with a label, marks after its parts"""
    with phase(f"forward {name}"):
        opt.zero_grad()
        out = model(x)
        loss = loss_fn(out, y)
    if label is not None:
        mark(label + "after forward")
    with phase(f"backward {name}"):
        loss.backward()
    if label is not None:
        mark(label + "after backward")
    with phase(f"optimizer {name}"):
        opt.step()
    if label is not None:
        mark(label + "after step")
    return out, loss
