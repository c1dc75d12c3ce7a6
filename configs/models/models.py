"""A model zoo in plain torch.nn.

Every architecture is written from its published description; nothing is imported but torch.  A `Workload` joins a
model with the batch that feeds it and the loss that ends it, so that one loop can run all of them.

    WORKLOADS["resnet18"].build(num_classes=1000)            -> nn.Module, on the host
    WORKLOADS["resnet18"].host_batch(8, image=224)           -> [x, y], host tensors, the last one is the target
    WORKLOADS["resnet18"].loss(model(x), y)                  -> 0-dim tensor

Models with a `blocks` list honour `model.checkpoint_mode` (None, "every-block", "every-2", "reentrant").
Values never matter here (the goldens hold memory events, not numbers), so batches are zeros.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

WORKLOADS = {}


class Workload:
    """a model, its batch and its loss"""

    def __init__(self, name, build, host_batch, loss, defaults, needs=()):
        self.name, self._build, self._batch, self.loss = name, build, host_batch, loss
        self.defaults = defaults      # model arguments; `batch`, `image`, `seq` are the batch's
        self.needs = needs            # "no-cudnn": cuDNN is switched off for it

    def arguments(self, given):
        unknown = set(given) - set(self.defaults)
        if unknown:
            raise SystemExit("%s has no argument %s; it has %s" % (self.name, ", ".join(sorted(unknown)), self.defaults))
        return {**self.defaults, **given}

    def build(self, **given):
        return self._build(**{k: v for k, v in self.arguments(given).items() if k not in ("batch", "image", "seq")})

    def host_batch(self, batch, image=None, seq=None, **given):
        return self._batch(batch, image or self.defaults.get("image"), seq or self.defaults.get("seq"), self.arguments(given))


def workload(name, host_batch, loss, needs=(), **defaults):
    def register(build):
        WORKLOADS[name] = Workload(name, build, host_batch, loss, defaults, needs)
        return build
    return register


def run_blocks(model, x, *extra):
    """the blocks one after another, as model.checkpoint_mode says"""
    mode = getattr(model, "checkpoint_mode", None)
    for i, block in enumerate(model.blocks):
        if mode and torch.is_grad_enabled() and (mode != "every-2" or i % 2 == 0):
            x = checkpoint(block, x, *extra, use_reentrant=mode == "reentrant")
        else:
            x = block(x, *extra)
    return x


# ---- batches and losses --------------------------------------------------------------------------------------------

def images(batch, image, seq, a):
    return [torch.zeros(batch, a.get("channels", 3), image, image), torch.zeros(batch, dtype=torch.long)]


def vectors(batch, image, seq, a):
    return [torch.zeros(batch, a["inputs"]), torch.zeros(batch, dtype=torch.long)]


def reconstruct_vectors(batch, image, seq, a):
    x = torch.zeros(batch, a["inputs"])
    return [x, x]


def tokens(batch, image, seq, a):
    return [torch.zeros(batch, seq, dtype=torch.long), torch.zeros(batch, seq, dtype=torch.long)]


def masked_tokens(batch, image, seq, a):
    return [torch.zeros(batch, seq, dtype=torch.long), torch.ones(batch, seq, dtype=torch.long), torch.zeros(batch, seq, dtype=torch.long)]


def token_pairs(batch, image, seq, a):
    return [torch.zeros(batch, seq, dtype=torch.long), torch.zeros(batch, seq // 2, dtype=torch.long), torch.zeros(batch, seq // 2, dtype=torch.long)]


def class_loss(out, y):
    return F.cross_entropy(out, y)


def token_loss(out, y):
    return F.cross_entropy(out.view(-1, out.size(-1)), y.view(-1))


def token_loss_fp32(out, y):
    return F.cross_entropy(out.float().view(-1, out.size(-1)), y.view(-1))


def mse(out, y):
    return F.mse_loss(out, y)


# ---- small nets (the articles' ones) -------------------------------------------------------------------------------

@workload("mlp", vectors, class_loss, inputs=784, hidden=1024, layers=4, classes=10, activation="relu", inplace=False,
          dropout=0.0, bias=True, batchnorm=False)
def mlp(inputs, hidden, layers, classes, activation, inplace, dropout, bias, batchnorm):
    """layers-1 times Linear, [BatchNorm1d], activation, [Dropout]; then Linear"""
    act = {"relu": lambda: nn.ReLU(inplace=inplace), "gelu": nn.GELU, "silu": lambda: nn.SiLU(inplace=inplace),
           "tanh": nn.Tanh, "relu6": lambda: nn.ReLU6(inplace=inplace), "leaky_relu": lambda: nn.LeakyReLU(0.01, inplace=inplace)}[activation]
    mods, width = [], inputs
    for _ in range(layers - 1):
        mods.append(nn.Linear(width, hidden, bias=bias))
        if batchnorm:
            mods.append(nn.BatchNorm1d(hidden))
        mods.append(act())
        if dropout:
            mods.append(nn.Dropout(dropout, inplace=False))
        width = hidden
    return nn.Sequential(*mods, nn.Linear(width, classes, bias=bias))


class CheckpointedMLP(nn.Module):
    """layer1, layer2 checkpointed, layer3 not: the shape of the articles' checkpointing example"""

    def __init__(self, width, classes):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width), nn.Linear(width, width)])
        self.layer3 = nn.Linear(width, classes)

    def forward(self, x):
        return self.layer3(run_blocks(self, x))


@workload("three_linear", vectors, class_loss, inputs=1000, classes=10)
def three_linear(inputs, classes):
    return CheckpointedMLP(inputs, classes)


class SimpleConv(nn.Module):
    """conv 32, pool, conv 64, pool, linear; 32x32 images give 64*6*6 features (the article says 5*5, which fails)"""

    def __init__(self, image, inplace):
        super().__init__()
        side = ((image - 2) // 2 - 2) // 2
        self.conv1, self.relu1, self.pool1 = nn.Conv2d(3, 32, 3), nn.ReLU(inplace=inplace), nn.MaxPool2d(2)
        self.conv2, self.relu2, self.pool2 = nn.Conv2d(32, 64, 3), nn.ReLU(inplace=inplace), nn.MaxPool2d(2)
        self.fc = nn.Linear(64 * side * side, 10)

    def forward(self, x):
        x = self.pool1(self.relu1(self.conv1(x)))
        x = self.pool2(self.relu2(self.conv2(x)))
        x = x.view(x.size(0), -1)
        x = self.fc(x)
        return x


@workload("simple_conv", images, class_loss, image=32, side=32, inplace=False)
def simple_conv(side, inplace):
    return SimpleConv(side, inplace)


class SmallNetwork(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.filters = filters
        self.conv1 = nn.Conv2d(3, filters, kernel_size=3)
        self.fc1 = nn.Linear(filters * 30 * 30, 128)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = x.view(-1, self.filters * 30 * 30)
        x = self.fc1(x)
        return x


@workload("small_network", images, class_loss, image=32, filters=16)
def small_network(filters):
    """filters=16: the article's SmallNetwork; filters=64: its LargerConvNetwork"""
    return SmallNetwork(filters)


@workload("autoencoder", reconstruct_vectors, mse, inputs=784, sizes="512,256,64")
def autoencoder(inputs, sizes):
    """the target is the input itself (two device tensors, as the loop copies both)"""
    w = [inputs] + [int(s) for s in str(sizes).split(",")]
    enc = [m for a, b in zip(w, w[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
    w = w[::-1]
    dec = [m for a, b in zip(w, w[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*enc, *dec[:-1], nn.Sigmoid())


class SeparableNet(nn.Module):
    """a stem, then depthwise + pointwise pairs with batch norm"""

    def __init__(self, width, layers, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.blocks = nn.ModuleList(nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()) for _ in range(layers))
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(width, classes)

    def forward(self, x):
        x = run_blocks(self, self.stem(x))
        return self.fc(torch.flatten(self.pool(x), 1))


@workload("separable", images, class_loss, image=64, width=256, layers=4, classes=10)
def separable(width, layers, classes):
    return SeparableNet(width, layers, classes)


# ---- convolutional classifiers --------------------------------------------------------------------------------------

class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, cin, width, stride, inplace):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=inplace)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1 or cin != width:
            self.downsample = nn.Sequential(nn.Conv2d(cin, width, 1, stride, bias=False), nn.BatchNorm2d(width))
        self.inplace = inplace

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        if self.inplace:
            out += identity
        else:
            out = out + identity
        return self.relu(out)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, cin, width, stride, inplace):
        super().__init__()
        cout = width * 4
        self.conv1, self.bn1 = nn.Conv2d(cin, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, cout, 1, bias=False), nn.BatchNorm2d(cout)
        self.relu = nn.ReLU(inplace=inplace)
        self.downsample = None
        if stride != 1 or cin != cout:
            self.downsample = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
        self.inplace = inplace

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        if self.inplace:
            out += identity
        else:
            out = out + identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, block, counts, classes, inplace):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1, self.relu, self.maxpool = nn.BatchNorm2d(64), nn.ReLU(inplace=inplace), nn.MaxPool2d(3, 2, 1)
        blocks, cin = [], 64
        for stage, n in enumerate(counts):
            width = 64 << stage
            for i in range(n):
                blocks.append(block(cin, width, 2 if i == 0 and stage else 1, inplace))
                cin = width * block.expansion
        self.blocks = nn.ModuleList(blocks)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(cin, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = run_blocks(self, x)
        return self.fc(torch.flatten(self.avgpool(x), 1))


def register_resnet(name, block, counts):
    @workload(name, images, class_loss, image=224, classes=1000, inplace=True)
    def build(classes, inplace):
        return ResNet(block, counts, classes, inplace)


for _name, _block, _counts in (("resnet18", BasicBlock, (2, 2, 2, 2)), ("resnet34", BasicBlock, (3, 4, 6, 3)),
                               ("resnet50", Bottleneck, (3, 4, 6, 3)), ("resnet152", Bottleneck, (3, 8, 36, 3))):
    register_resnet(_name, _block, _counts)


@workload("vgg", images, class_loss, image=224, depth=11, batchnorm=False, classes=1000, dropout=0.5)
def vgg(depth, batchnorm, classes, dropout):
    """VGG-11/13/16/19: 3x3 convolutions, in-place ReLU, max pooling, three linear layers"""
    plan = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}[depth]
    mods, cin = [], 3
    for n, width in zip(plan, (64, 128, 256, 512, 512)):
        for _ in range(n):
            mods.append(nn.Conv2d(cin, width, 3, padding=1))
            if batchnorm:
                mods.append(nn.BatchNorm2d(width))
            mods.append(nn.ReLU(inplace=True))
            cin = width
        mods.append(nn.MaxPool2d(2, 2))
    return nn.Sequential(*mods, nn.AdaptiveAvgPool2d((7, 7)), nn.Flatten(), nn.Linear(512 * 49, 4096), nn.ReLU(True),
                         nn.Dropout(dropout), nn.Linear(4096, 4096), nn.ReLU(True), nn.Dropout(dropout), nn.Linear(4096, classes))


class InvertedResidual(nn.Module):
    def __init__(self, cin, cout, stride, expand):
        super().__init__()
        hidden = cin * expand
        self.skip = stride == 1 and cin == cout
        mods = []
        if expand != 1:
            mods += [nn.Conv2d(cin, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True)]
        mods += [nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True),
                 nn.Conv2d(hidden, cout, 1, bias=False), nn.BatchNorm2d(cout)]
        self.conv = nn.Sequential(*mods)

    def forward(self, x):
        return x + self.conv(x) if self.skip else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes, dropout):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6(inplace=True))
        blocks, cin = [], 32
        for t, c, n, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for i in range(n):
                blocks.append(InvertedResidual(cin, c, s if i == 0 else 1, t))
                cin = c
        self.blocks = nn.ModuleList(blocks)
        self.last = nn.Sequential(nn.Conv2d(cin, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(inplace=True))
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, classes))

    def forward(self, x):
        x = self.last(run_blocks(self, self.stem(x)))
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return self.classifier(torch.flatten(x, 1))


@workload("mobilenet_v2", images, class_loss, image=224, classes=1000, dropout=0.2)
def mobilenet_v2(classes, dropout):
    return MobileNetV2(classes, dropout)


class DenseLayer(nn.Module):
    def __init__(self, cin, growth):
        super().__init__()
        self.norm1, self.relu1, self.conv1 = nn.BatchNorm2d(cin), nn.ReLU(inplace=True), nn.Conv2d(cin, 4 * growth, 1, bias=False)
        self.norm2, self.relu2, self.conv2 = nn.BatchNorm2d(4 * growth), nn.ReLU(inplace=True), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, features):
        x = torch.cat(features, 1)
        x = self.conv1(self.relu1(self.norm1(x)))
        return self.conv2(self.relu2(self.norm2(x)))


class DenseBlock(nn.Module):
    def __init__(self, cin, layers, growth):
        super().__init__()
        self.layers = nn.ModuleList(DenseLayer(cin + i * growth, growth) for i in range(layers))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(features))
        return torch.cat(features, 1)


@workload("densenet", images, class_loss, image=224, growth=32, plan="6,12,24,16", classes=1000)
def densenet(growth, plan, classes):
    """DenseNet-121 by default: every layer reads the concatenation of all before it"""
    mods, c = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    counts = [int(n) for n in str(plan).split(",")]
    for i, n in enumerate(counts):
        mods.append(DenseBlock(c, n, growth))
        c += n * growth
        if i + 1 < len(counts):
            mods += [nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.Conv2d(c, c // 2, 1, bias=False), nn.AvgPool2d(2, 2)]
            c //= 2
    return nn.Sequential(*mods, nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, classes))


def segmentation(batch, image, seq, a):
    return [torch.zeros(batch, 3, image, image), torch.zeros(batch, image, image, dtype=torch.long)]


def double_conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
                         nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, width, depth, classes, bilinear):
        super().__init__()
        self.inc = double_conv(3, width)
        self.down = nn.ModuleList(nn.Sequential(nn.MaxPool2d(2), double_conv(width << i, width << (i + 1))) for i in range(depth))
        self.up, self.merge = nn.ModuleList(), nn.ModuleList()
        for i in reversed(range(depth)):
            c = width << i
            self.up.append(nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), nn.Conv2d(2 * c, c, 1)) if bilinear
                           else nn.ConvTranspose2d(2 * c, c, 2, stride=2))
            self.merge.append(double_conv(2 * c, c))
        self.out = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = [self.inc(x)]
        for down in self.down:
            skips.append(down(skips[-1]))
        x = skips.pop()
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat([skips.pop(), up(x)], dim=1))
        return self.out(x)


@workload("unet", segmentation, class_loss, image=128, width=64, depth=4, classes=2, bilinear=False)
def unet(width, depth, classes, bilinear):
    return UNet(width, depth, classes, bilinear)


# ---- transformers ---------------------------------------------------------------------------------------------------

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


class GPTBlock(nn.Module):
    def __init__(self, d, heads, dropout, bias, attention):
        super().__init__()
        self.heads, self.p, self.kind = heads, dropout, attention
        self.ln_1, self.c_attn, self.c_proj = nn.LayerNorm(d, bias=bias), nn.Linear(d, 3 * d, bias=bias), nn.Linear(d, d, bias=bias)
        self.ln_2, self.c_fc, self.gelu, self.c_proj2 = nn.LayerNorm(d, bias=bias), nn.Linear(d, 4 * d, bias=bias), nn.GELU(), nn.Linear(4 * d, d, bias=bias)
        self.attn_dropout, self.resid_dropout, self.dropout = nn.Dropout(dropout), nn.Dropout(dropout), nn.Dropout(dropout)

    def attn(self, x):
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(c, dim=2)
        k = k.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        q = q.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        v = v.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        if self.kind == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=self.p if self.training else 0, is_causal=True)
        else:
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            mask = torch.tril(torch.ones(t, t, device=x.device)).view(1, 1, t, t)
            att = att.masked_fill(mask == 0, float("-inf"))
            att = F.softmax(att, dim=-1)
            att = self.attn_dropout(att)
            y = att @ v
        y = y.transpose(1, 2).contiguous().view(b, t, c)
        return self.resid_dropout(self.c_proj(y))

    def mlp(self, x):
        x = self.c_fc(x)
        x = self.gelu(x)
        x = self.c_proj2(x)
        return self.dropout(x)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class GPT(nn.Module):
    def __init__(self, vocab, context, d, layers, heads, dropout, bias, attention, tied):
        super().__init__()
        self.wte, self.wpe, self.drop = nn.Embedding(vocab, d), nn.Embedding(context, d), nn.Dropout(dropout)
        self.blocks = nn.ModuleList(GPTBlock(d, heads, dropout, bias, attention) for _ in range(layers))
        self.ln_f, self.lm_head = nn.LayerNorm(d, bias=bias), nn.Linear(d, vocab, bias=False)
        if tied:
            self.wte.weight = self.lm_head.weight

    def forward(self, idx):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
        x = self.drop(self.wte(idx) + self.wpe(pos))
        x = self.ln_f(run_blocks(self, x))
        return self.lm_head(x)


@workload("gpt2", tokens, token_loss, seq=256, vocab=50304, context=1024, d=768, layers=12, heads=12, dropout=0.0, bias=True,
          attention="sdpa", tied=True)
def gpt2(vocab, context, d, layers, heads, dropout, bias, attention, tied):
    """GPT-2 small by default; attention=manual: matmul, scale, masked_fill, softmax, dropout, matmul"""
    return GPT(vocab, context, d, layers, heads, dropout, bias, attention, tied)


class BertLayer(nn.Module):
    """post-norm encoder layer, separate q, k, v, hand-written attention with an additive mask"""

    def __init__(self, d, heads, ffn, dropout):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(d, d) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(d, eps=1e-12), nn.LayerNorm(d, eps=1e-12)
        self.intermediate, self.output = nn.Linear(d, ffn), nn.Linear(ffn, d)
        self.attn_drop, self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout), nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / math.sqrt(q.size(-1))
        scores = scores + mask
        probs = self.attn_drop(F.softmax(scores, dim=-1))
        ctx = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        ctx = ctx.view(x.size(0), x.size(1), -1)
        x = self.norm1(self.drop1(self.dense(ctx)) + x)
        h = F.gelu(self.intermediate(x))
        return self.norm2(self.drop2(self.output(h)) + x)


class Bert(nn.Module):
    def __init__(self, vocab, context, d, layers, heads, ffn, dropout):
        super().__init__()
        self.word, self.position, self.kind = nn.Embedding(vocab, d, padding_idx=0), nn.Embedding(context, d), nn.Embedding(2, d)
        self.norm, self.drop = nn.LayerNorm(d, eps=1e-12), nn.Dropout(dropout)
        self.blocks = nn.ModuleList(BertLayer(d, heads, ffn, dropout) for _ in range(layers))
        self.transform, self.transform_norm = nn.Linear(d, d), nn.LayerNorm(d, eps=1e-12)
        self.decoder = nn.Linear(d, vocab)
        self.decoder.weight = self.word.weight

    def forward(self, ids, mask):
        mask = (1.0 - mask[:, None, None, :].to(self.norm.weight.dtype)) * -10000.0
        pos = torch.arange(ids.size(1), device=ids.device)
        x = self.word(ids) + self.position(pos) + self.kind(torch.zeros_like(ids))
        x = run_blocks(self, self.drop(self.norm(x)), mask)
        x = self.transform_norm(F.gelu(self.transform(x)))
        return self.decoder(x)


@workload("bert", masked_tokens, token_loss, seq=128, vocab=30522, context=512, d=768, layers=12, heads=12, ffn=3072, dropout=0.1)
def bert(vocab, context, d, layers, heads, ffn, dropout):
    return Bert(vocab, context, d, layers, heads, ffn, dropout)


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


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


class LlamaLayer(nn.Module):
    def __init__(self, d, heads, kv_heads, ffn, norm, gqa):
        super().__init__()
        self.heads, self.kv, self.hd, self.gqa = heads, kv_heads, d // heads, gqa
        make = {"hand": RMSNorm, "module": nn.RMSNorm}[norm]
        self.input_norm, self.post_norm = make(d), make(d)
        self.q_proj, self.o_proj = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.k_proj, self.v_proj = nn.Linear(d, kv_heads * self.hd, bias=False), nn.Linear(d, kv_heads * self.hd, bias=False)
        self.gate_proj, self.up_proj, self.down_proj = nn.Linear(d, ffn, bias=False), nn.Linear(d, ffn, bias=False), nn.Linear(ffn, d, bias=False)

    def repeat_kv(self, x):
        n = self.heads // self.kv
        if n == 1:
            return x
        b, h, t, d = x.shape
        return x[:, :, None, :, :].expand(b, h, n, t, d).reshape(b, h * n, t, d)

    def attention(self, x, cos, sin):
        b, t, c = x.shape
        q = self.q_proj(x).view(b, t, self.heads, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.kv, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.kv, self.hd).transpose(1, 2)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        if self.gqa:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            y = F.scaled_dot_product_attention(q, self.repeat_kv(k), self.repeat_kv(v), is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, c))

    def forward(self, x, cos, sin):
        residual = x
        x = residual + self.attention(self.input_norm(x), cos, sin)
        residual = x
        x = self.post_norm(x)
        return residual + self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Llama(nn.Module):
    def __init__(self, vocab, d, layers, heads, kv_heads, ffn, norm, gqa):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(LlamaLayer(d, heads, kv_heads, ffn, norm, gqa) for _ in range(layers))
        self.norm = {"hand": RMSNorm, "module": nn.RMSNorm}[norm](d)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        hd = d // heads
        self.register_buffer("inv_freq", 1.0 / (10000.0 ** (torch.arange(0, hd, 2).float() / hd)), persistent=False)

    @torch.no_grad()
    def rope(self, x, t):
        pos = torch.arange(t, device=x.device)[None, :].float()
        freqs = pos[:, :, None] * self.inv_freq.float()[None, None, :]
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos().to(x.dtype)[:, None], emb.sin().to(x.dtype)[:, None]

    def forward(self, idx):
        x = self.embed(idx)
        cos, sin = self.rope(x, idx.size(1))
        x = self.norm(run_blocks(self, x, cos, sin))
        return self.lm_head(x)


@workload("llama", tokens, token_loss_fp32, seq=256, vocab=32000, d=1024, layers=8, heads=16, kv_heads=4, ffn=2816, norm="hand", gqa=False)
def llama(vocab, d, layers, heads, kv_heads, ffn, norm, gqa):
    """norm=hand|module; gqa: let SDPA repeat the key/value heads; the loss takes logits.float()"""
    return Llama(vocab, d, layers, heads, kv_heads, ffn, norm, gqa)


class T5Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x, memory, bias):
        b, t, d = x.shape
        shape = lambda y: y.view(b, -1, self.heads, d // self.heads).transpose(1, 2)
        q, k, v = shape(self.q(x)), shape(self.k(memory)), shape(self.v(memory))
        scores = torch.matmul(q, k.transpose(3, 2))
        if bias is not None:
            scores = scores + bias
        w = F.softmax(scores.float(), dim=-1).type_as(scores)
        return self.o(torch.matmul(w, v).transpose(1, 2).contiguous().view(b, t, d))


class T5Layer(nn.Module):
    def __init__(self, d, heads, ffn, cross, dropout):
        super().__init__()
        self.norm1, self.attn = RMSNorm(d), T5Attention(d, heads)
        self.norm2, self.cross = (RMSNorm(d), T5Attention(d, heads)) if cross else (None, None)
        self.norm3, self.wi, self.wo, self.drop = RMSNorm(d), nn.Linear(d, ffn, bias=False), nn.Linear(ffn, d, bias=False), nn.Dropout(dropout)

    def forward(self, x, bias, memory=None):
        h = self.norm1(x)
        x = x + self.drop(self.attn(h, h, bias))
        if self.cross is not None:
            x = x + self.drop(self.cross(self.norm2(x), memory, None))
        return x + self.drop(self.wo(self.drop(F.relu(self.wi(self.norm3(x))))))


class T5(nn.Module):
    def __init__(self, vocab, d, layers, heads, ffn, dropout):
        super().__init__()
        self.d, self.shared = d, nn.Embedding(vocab, d)
        self.enc_bias, self.dec_bias = nn.Embedding(32, heads), nn.Embedding(32, heads)
        self.encoder = nn.ModuleList(T5Layer(d, heads, ffn, False, dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(T5Layer(d, heads, ffn, True, dropout) for _ in range(layers))
        self.enc_norm, self.dec_norm = RMSNorm(d), RMSNorm(d)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.lm_head.weight = self.shared.weight

    def bias(self, table, t, causal, device):
        rel = (torch.arange(t, device=device)[None, :] - torch.arange(t, device=device)[:, None]).abs().clamp(max=31)
        b = table(rel).permute(2, 0, 1).unsqueeze(0)
        if causal:
            b = b + torch.full((t, t), -1e4, device=device, dtype=b.dtype).triu(1)
        return b

    def forward(self, src, tgt):
        x = self.shared(src)
        bias = self.bias(self.enc_bias, src.size(1), False, src.device)
        for layer in self.encoder:
            x = layer(x, bias)
        memory = self.enc_norm(x)
        x = self.shared(tgt)
        bias = self.bias(self.dec_bias, tgt.size(1), True, tgt.device)
        for layer in self.decoder:
            x = layer(x, bias, memory)
        return self.lm_head(self.dec_norm(x) * self.d ** -0.5)


@workload("t5", token_pairs, token_loss, seq=128, vocab=32128, d=512, layers=6, heads=8, ffn=2048, dropout=0.1)
def t5(vocab, d, layers, heads, ffn, dropout):
    """encoder-decoder with relative-position bias shared by the layers; target length = seq // 2"""
    return T5(vocab, d, layers, heads, ffn, dropout)


class EncoderClassifier(nn.Module):
    """torch's own TransformerEncoder, the article's d_model / nhead / num_layers"""

    def __init__(self, vocab, d_model, nhead, num_layers, ffn, dropout, classes, norm_first):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, ffn, dropout, batch_first=True, norm_first=norm_first)
        self.encoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        self.head = nn.Linear(d_model, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids)).mean(dim=1))


def token_class(batch, image, seq, a):
    return [torch.zeros(batch, seq, dtype=torch.long), torch.zeros(batch, dtype=torch.long)]


@workload("transformer", token_class, class_loss, seq=128, vocab=10000, d_model=512, nhead=8, num_layers=6, ffn=2048, dropout=0.1,
          classes=10, norm_first=False)
def transformer(vocab, d_model, nhead, num_layers, ffn, dropout, classes, norm_first):
    return EncoderClassifier(vocab, d_model, nhead, num_layers, ffn, dropout, classes, norm_first)


# ---- recurrent, recommendation, adversarial -------------------------------------------------------------------------

class Recurrent(nn.Module):
    def __init__(self, kind, vocab, d, hidden, layers, dropout, bidirectional):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.rnn = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}[kind](d, hidden, layers, batch_first=True, dropout=dropout, bidirectional=bidirectional)
        self.head = nn.Linear(hidden * (2 if bidirectional else 1), vocab)

    def forward(self, ids):
        out, _ = self.rnn(self.embed(ids))
        return self.head(out)


def register_recurrent(name):
    @workload(name, tokens, token_loss, needs=("no-cudnn",), seq=35, vocab=10000, d=256, hidden=512, layers=2, dropout=0.2, bidirectional=False)
    def build(vocab, d, hidden, layers, dropout, bidirectional):
        return Recurrent(name, vocab, d, hidden, layers, dropout, bidirectional)


for _name in ("lstm", "gru"):
    register_recurrent(_name)


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


class GAN(nn.Module):
    """a DCGAN pair for 64x64 images; golden.py has a loop of its own for it (two optimizers)"""

    def __init__(self, z, width):
        super().__init__()
        self.z = z
        g, c = [], z
        for i, w in enumerate((width * 8, width * 4, width * 2, width)):
            g += [nn.ConvTranspose2d(c, w, 4, 1 if i == 0 else 2, 0 if i == 0 else 1, bias=False), nn.BatchNorm2d(w), nn.ReLU(True)]
            c = w
        self.generator = nn.Sequential(*g, nn.ConvTranspose2d(c, 3, 4, 2, 1, bias=False), nn.Tanh())
        d, c = [], 3
        for i, w in enumerate((width, width * 2, width * 4, width * 8)):
            d += [nn.Conv2d(c, w, 4, 2, 1, bias=False)] + ([nn.BatchNorm2d(w)] if i else []) + [nn.LeakyReLU(0.2, inplace=True)]
            c = w
        self.discriminator = nn.Sequential(*d, nn.Conv2d(c, 1, 4, 1, 0, bias=False))


@workload("gan", images, lambda out, y: F.binary_cross_entropy_with_logits(out, y), image=64, z=100, width=64)
def gan(z, width):
    return GAN(z, width)
