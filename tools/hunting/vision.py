"""Networks of convolutions in one, two and three dimensions, block by block with the shape kept track of."""

from .model import Model, activation, classes, function, regression

HELPERS = {
    "SE": """
class SE(nn.Module):
    def __init__(self, c, r=4):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(nn.Linear(c, max(c // r, 1)), nn.ReLU(inplace=True), nn.Linear(max(c // r, 1), c), nn.Sigmoid())

    def forward(self, x):
        b, c = x.shape[:2]
        w = self.fc(self.pool(x).view(b, c)).view(b, c, 1, 1)
        return x * w
""",
    "SEConv": """
class SEConv(nn.Module):
    def __init__(self, c, r=4):
        super().__init__()
        self.down = nn.Conv2d(c, max(c // r, 1), 1)
        self.up = nn.Conv2d(max(c // r, 1), c, 1)

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        s = self.up(F.silu(self.down(s)))
        return x * s.sigmoid()
""",
    "Residual": """
class Residual(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or cin != cout:
            self.down = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        identity = x if self.down is None else self.down(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)
""",
    "PreAct": """
class PreAct(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.bn1, self.bn2 = nn.BatchNorm2d(cin), nn.BatchNorm2d(cout)
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
        if stride != 1 or cin != cout:
            self.shortcut = nn.Conv2d(cin, cout, 1, stride, bias=False)

    def forward(self, x):
        out = F.relu(self.bn1(x))
        shortcut = self.shortcut(out) if hasattr(self, "shortcut") else x
        out = self.conv1(out)
        out = self.conv2(F.relu(self.bn2(out)))
        return out + shortcut
""",
    "Bottleneck": """
class Bottleneck(nn.Module):
    def __init__(self, cin, cout, stride=1, groups=1):
        super().__init__()
        mid = cout // 4
        self.body = nn.Sequential(
            nn.Conv2d(cin, mid, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(),
            nn.Conv2d(mid, mid, 3, stride, 1, groups=groups, bias=False), nn.BatchNorm2d(mid), nn.ReLU(),
            nn.Conv2d(mid, cout, 1, bias=False), nn.BatchNorm2d(cout))
        self.proj = nn.Identity() if stride == 1 and cin == cout else nn.Conv2d(cin, cout, 1, stride)

    def forward(self, x):
        return F.relu(self.body(x) + self.proj(x))
""",
    "Inverted": """
class Inverted(nn.Module):
    def __init__(self, cin, cout, stride=1, expand=4, act=nn.ReLU6):
        super().__init__()
        mid = cin * expand
        self.use_res = stride == 1 and cin == cout
        self.conv = nn.Sequential(
            nn.Conv2d(cin, mid, 1, bias=False), nn.BatchNorm2d(mid), act(inplace=True),
            nn.Conv2d(mid, mid, 3, stride, 1, groups=mid, bias=False), nn.BatchNorm2d(mid), act(inplace=True),
            nn.Conv2d(mid, cout, 1, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        return x + self.conv(x) if self.use_res else self.conv(x)
""",
    "Separable": """
class Separable(nn.Module):
    def __init__(self, cin, cout, k=3, stride=1):
        super().__init__()
        self.depthwise = nn.Conv2d(cin, cin, k, stride, k // 2, groups=cin)
        self.pointwise = nn.Conv2d(cin, cout, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))
""",
    "ConvNeXt": """
class ConvNeXt(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.dw = nn.Conv2d(c, c, 7, padding=3, groups=c)
        self.norm = nn.LayerNorm(c, eps=1e-6)
        self.fc1, self.fc2 = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
        self.gamma = nn.Parameter(1e-6 * torch.ones(c))

    def forward(self, x):
        h = self.dw(x).permute(0, 2, 3, 1)
        h = self.fc2(F.gelu(self.fc1(self.norm(h))))
        return x + (self.gamma * h).permute(0, 3, 1, 2)
""",
    "Dense": """
class Dense(nn.Module):
    def __init__(self, c, growth, n):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(c + i * growth), nn.ReLU(inplace=True),
                                                  nn.Conv2d(c + i * growth, growth, 3, padding=1)) for i in range(n))

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return x
""",
    "Inception": """
class Inception(nn.Module):
    def __init__(self, cin, w):
        super().__init__()
        self.a = nn.Conv2d(cin, w, 1)
        self.b = nn.Sequential(nn.Conv2d(cin, w, 1), nn.ReLU(), nn.Conv2d(w, w, 3, padding=1))
        self.c = nn.Sequential(nn.Conv2d(cin, w, 1), nn.ReLU(), nn.Conv2d(w, w, 5, padding=2))
        self.d = nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(cin, w, 1))

    def forward(self, x):
        return torch.cat([F.relu(f(x)) for f in (self.a, self.b, self.c, self.d)], dim=1)
""",
    "SpatialAttention": """
class SpatialAttention(nn.Module):
    def __init__(self, k=7):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, k, padding=k // 2, bias=False)

    def forward(self, x):
        avg = torch.mean(x, dim=1, keepdim=True)
        top, _ = torch.max(x, dim=1, keepdim=True)
        return x * torch.sigmoid(self.conv(torch.cat([avg, top], dim=1)))
""",
    "LayerNorm2d": """
class LayerNorm2d(nn.Module):
    def __init__(self, c, eps=1e-6):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(c)), nn.Parameter(torch.zeros(c)), eps

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]
""",
    "DropPath": """
class DropPath(nn.Module):
    def __init__(self, f, p=0.1):
        super().__init__()
        self.f, self.p = f, p

    def forward(self, x):
        h = self.f(x)
        if self.training and self.p > 0:
            keep = 1 - self.p
            mask = torch.rand(x.shape[0], 1, 1, 1, device=x.device, dtype=x.dtype)
            h = h.div(keep) * (mask + keep).floor_()
        return x + h
""",
    "NonLocal": """
class NonLocal(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.q, self.k, self.v = nn.Conv2d(c, max(c // 8, 1), 1), nn.Conv2d(c, max(c // 8, 1), 1), nn.Conv2d(c, c, 1)
        self.gamma = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        b, c, h, w = x.size()
        q = self.q(x).view(b, -1, h * w).permute(0, 2, 1)
        k = self.k(x).view(b, -1, h * w)
        attn = torch.softmax(torch.bmm(q, k), dim=-1)
        v = self.v(x).view(b, -1, h * w)
        out = torch.bmm(v, attn.permute(0, 2, 1)).view(b, c, h, w)
        return self.gamma * out + x
""",
    "Shuffle": """
class Shuffle(nn.Module):
    def __init__(self, c):
        super().__init__()
        h = c // 2
        self.branch = nn.Sequential(nn.Conv2d(h, h, 1, bias=False), nn.BatchNorm2d(h), nn.ReLU(inplace=True),
                                    nn.Conv2d(h, h, 3, padding=1, groups=h, bias=False), nn.BatchNorm2d(h),
                                    nn.Conv2d(h, h, 1, bias=False), nn.BatchNorm2d(h), nn.ReLU(inplace=True))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        x = torch.cat((a, self.branch(b)), dim=1)
        n, c, h, w = x.shape
        return x.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)
""",
}


def norm2d(r, c):
    divisors = [g for g in (1, 2, 4, 8, 16, 32) if c % g == 0]
    return r.pick("nn.BatchNorm2d(%d)" % c, "nn.BatchNorm2d(%d)" % c, "nn.BatchNorm2d(%d, affine=False)" % c,
                  "nn.BatchNorm2d(%d, track_running_stats=False)" % c, "nn.BatchNorm2d(%d, momentum=None)" % c,
                  "nn.GroupNorm(%d, %d)" % (r.choice(divisors), c), "nn.GroupNorm(1, %d)" % c, "nn.InstanceNorm2d(%d)" % c,
                  "nn.InstanceNorm2d(%d, affine=True)" % c, "LayerNorm2d(%d)" % c, "nn.LocalResponseNorm(3)",
                  "nn.InstanceNorm2d(%d, affine=True, track_running_stats=True)" % c, "nn.GroupNorm(%d, %d, affine=False)" % (r.choice(divisors), c))


def block2d(r, c, s):
    """(layers, channels, side) after one drawn block"""
    kind = r.weighted(conv=6, norm=4, act=5, pool=2.5, drop=1, residual=2, preact=1, bottleneck=1, inverted=1.2, separable=1.2, se=1,
                      seconv=0.6, convnext=0.8, dense=0.6, inception=0.6, spatial=0.5, up=0.5, shuffle=0.6, pixel=0.4, pad=0.6, drop_path=0.4,
                      nonlocal_=0.4, transposed=0.5, unfold=0.1)
    out = r.choice([8, 16, 24, 32, 48, 64, 96, 128]) if r.chance(0.85) else r.randint(3, 100)
    stride = 2 if s >= 8 and r.chance(0.3) else 1
    half = (s + 1) // 2 if stride == 2 else s
    if kind == "conv":
        k = r.pick(1, 3, 3, 3, 5, 7)
        d = r.pick(1, 1, 1, 2)
        bias = r.pick("", "", ", bias=False")
        groups = r.choice([g for g in (1, 1, 1, 2, 4) if c % g == 0 and out % g == 0])
        mode = r.pick("", "", "", "", ", padding_mode='%s'" % r.pick("reflect", "replicate", "circular")) if s > d * (k // 2) else ""
        pad = "'same'" if stride == 1 and r.chance(0.1) else str(d * (k // 2))
        text = "nn.Conv2d(%d, %d, %d%s, padding=%s%s%s%s%s)" % (c, out, k, ", stride=2" if stride == 2 else "", pad, ", dilation=2" if d == 2 else "",
                                                               ", groups=%d" % groups if groups > 1 else "", bias, mode)
        return [text], out, half
    if kind == "norm":
        return [norm2d(r, c)], c, s
    if kind == "act":
        return [activation(r)], c, s
    if kind == "pool" and s >= 4:
        return [r.pick("nn.MaxPool2d(2)", "nn.MaxPool2d(2)", "nn.MaxPool2d(2, 2)", "nn.AvgPool2d(2)", "nn.LPPool2d(2, 2)", "nn.AdaptiveAvgPool2d(%d)" % (s // 2),
                       "nn.AdaptiveMaxPool2d(%d)" % (s // 2), "nn.AvgPool2d(2, count_include_pad=False)")], c, s // 2
    if kind == "drop":
        return [r.pick("nn.Dropout(0.1)", "nn.Dropout2d(0.2)", "nn.Dropout(0.5)", "nn.AlphaDropout(0.1)", "nn.Dropout(0.3, inplace=True)", "nn.Dropout(0.0)")], c, s
    if kind == "residual":
        return ["Residual(%d, %d, %d)" % (c, out, stride)], out, half
    if kind == "preact":
        return ["PreAct(%d, %d, %d)" % (c, out, stride)], out, half
    if kind == "bottleneck":
        out = max(out // 8, 1) * 8
        return ["Bottleneck(%d, %d, %d)" % (c, out, stride)], out, half
    if kind == "inverted":
        return ["Inverted(%d, %d, %d, %d, act=%s)" % (c, out, stride, r.pick(2, 4, 6), r.pick("nn.ReLU6", "nn.Hardswish", "nn.SiLU", "nn.ReLU"))], out, half
    if kind == "separable":
        return ["Separable(%d, %d, %d, %d)" % (c, out, r.pick(3, 5), stride)], out, half
    if kind in ("se", "seconv"):
        return [("SE(%d)" if kind == "se" else "SEConv(%d)") % c], c, s
    if kind == "convnext":
        return ["ConvNeXt(%d)" % c], c, s
    if kind == "dense":
        g, n = r.pick(8, 12, 16), r.randint(1, 4)
        return ["Dense(%d, %d, %d)" % (c, g, n)], c + g * n, s
    if kind == "inception":
        w = r.pick(8, 16, 24)
        return ["Inception(%d, %d)" % (c, w)], 4 * w, s
    if kind == "spatial":
        return ["SpatialAttention(%d)" % r.pick(3, 7)], c, s
    if kind == "up" and s <= 24:
        return [r.pick("nn.Upsample(scale_factor=2)", "nn.Upsample(scale_factor=2, mode='bilinear', align_corners=False)", "nn.UpsamplingNearest2d(scale_factor=2)",
                       "nn.Upsample(scale_factor=2, mode='bicubic')", "nn.UpsamplingBilinear2d(scale_factor=2)", "nn.Upsample(size=(%d, %d))" % (2 * s, 2 * s))], c, 2 * s
    if kind == "shuffle" and c % 2 == 0:
        return ["Shuffle(%d)" % c], c, s
    if kind == "pixel":
        if c % 4 == 0 and s <= 24 and r.chance(0.5):
            return ["nn.PixelShuffle(2)"], c // 4, 2 * s
        if s % 2 == 0 and s > 2 and c <= 64:
            return ["nn.PixelUnshuffle(2)"], 4 * c, s // 2
    if kind == "pad" and s > 2:
        return [r.pick("nn.ZeroPad2d(1)", "nn.ReflectionPad2d(1)", "nn.ReplicationPad2d(1)", "nn.ConstantPad2d(1, 0.5)", "nn.CircularPad2d(1)")], c, s + 2
    if kind == "drop_path":
        return ["DropPath(nn.Sequential(nn.Conv2d(%d, %d, 3, padding=1), nn.BatchNorm2d(%d)), 0.2)" % (c, c, c)], c, s
    if kind == "nonlocal_" and s <= 32:
        return ["NonLocal(%d)" % c], c, s
    if kind == "transposed" and s <= 24:
        if r.chance(0.5):
            return ["nn.ConvTranspose2d(%d, %d, 2, stride=2%s)" % (c, out, r.pick("", ", bias=False"))], out, 2 * s
        return ["nn.ConvTranspose2d(%d, %d, 3, stride=2, padding=1, output_padding=1)" % (c, out)], out, 2 * s
    return ["nn.Conv2d(%d, %d, 3, padding=1)" % (c, out), "nn.ReLU()"], out, s


def helpers(text):
    """the classes that a text uses"""
    return "\n".join(code for name, code in HELPERS.items() if name + "(" in text).lstrip("\n")


def network(r):
    """a chain of drawn blocks with a head"""
    c, s = r.pick((3, 32), (3, 32), (1, 28), (3, 64), (3, 48), (4, 17), (3, 224 if r.chance(0.15) else 40))
    inputs = ["torch.zeros(b, %d, %d, %d)" % (c, s, s)]
    layers, side = [], s
    for _ in range(r.randint(2, 10)):
        more, c, side = block2d(r, c, side)
        layers += more
    n = r.pick(2, 10, 100, 7, 1000)
    head = r.weighted(pool=3, flat=2, mean=2, segment=1, regress=0.6, mlp=1)
    batch = (1, 2, 4, 8, 16, 32) if s <= 64 else (1, 2, 4)
    model = Model("", inputs=inputs, images=True, batch=batch)
    model.target, model.loss = classes(r, n)
    if head == "pool":
        layers += ["nn.AdaptiveAvgPool2d(%s)" % r.pick("1", "(1, 1)"), "nn.Flatten()", "nn.Linear(%d, %d)" % (c, n)]
        tail = "x"
    elif head == "flat":
        keep = 2 if side > 8 else side
        if keep != side:
            layers.append(r.pick("nn.AdaptiveAvgPool2d(2)", "nn.AdaptiveMaxPool2d(2)"))
        layers += ["nn.Flatten()", "nn.Linear(%d, %d)" % (c * keep * keep, n)]
        tail = "x"
    elif head == "mean":
        tail = r.pick("self.head(x.mean(dim=(2, 3)))", "self.head(x.mean([-2, -1]))", "self.head(x.flatten(2).mean(-1))", "self.head(x.amax(dim=(2, 3)))",
                      "self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))", "self.head(x.view(x.size(0), x.size(1), -1).max(dim=2)[0])",
                      "self.head(F.adaptive_max_pool2d(x, (1, 1)).squeeze(-1).squeeze(-1))", "self.head(x.flatten(2).logsumexp(-1))")
    elif head == "mlp":
        layers += ["nn.AdaptiveAvgPool2d(1)", "nn.Flatten()", "nn.Linear(%d, 64)" % c, r.pick("nn.BatchNorm1d(64)", "nn.LayerNorm(64)", "nn.Identity()"), activation(r),
                   "nn.Dropout(%s)" % r.pick("0.5", "0.1"), "nn.Linear(64, %d)" % n]
        tail = "x"
    elif head == "segment":
        n = r.pick(2, 5, 21)
        layers.append("nn.Conv2d(%d, %d, 1)" % (c, n))
        tail = "x"
        model.target = "torch.zeros(b, %d, %d, dtype=torch.long)" % (side, side)
        model.loss = r.pick("F.cross_entropy(out, y)", "F.cross_entropy(out, y, ignore_index=255)", "F.nll_loss(F.log_softmax(out, dim=1), y)",
                            "F.cross_entropy(out, y) + 1 - (2 * (out.softmax(1) * F.one_hot(y, %d).permute(0, 3, 1, 2).float()).sum() + 1) / "
                            "(out.softmax(1).sum() + 2)" % n)
    else:
        layers.append("nn.Conv2d(%d, 3, 3, padding=1)" % c)
        tail = "x" + r.pick("", ".tanh()", ".sigmoid()")
        model.target, model.loss = "torch.zeros(b, 3, %d, %d)" % (side, side), regression(r)
    code = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    style = r.weighted(sequential=3, names=2, list=1)
    if style == "names":
        code += "".join("        self.m%d = %s\n" % item for item in enumerate(layers))
        body = "".join("        x = self.m%d(x)\n" % i if r.chance(0.85) else "        x = %s\n" % function(r).format(x="self.m%d(x)" % i) for i in range(len(layers)))
    elif style == "list":
        code += "        self.blocks = nn.ModuleList([%s])\n" % ", ".join(layers)
        body = "        for block in self.blocks:\n            x = block(x)\n"
    else:
        code += "        self.body = nn.Sequential(\n            %s)\n" % ",\n            ".join(layers)
        body = "        x = self.body(x)\n"
    if "self.head" in tail:
        code += "        self.head = nn.Linear(%d, %d)\n" % (c, n)
    code += "\n    def forward(self, x):\n" + body + "        return %s\n" % tail
    model.code = helpers(code) + ("\n\n" if helpers(code) else "") + code
    return model


def one_or_three(r):
    """the same in one or three dimensions"""
    d = r.pick(1, 3)
    c, s = (r.pick(1, 2, 12, 40), r.pick(50, 128, 200, 1000)) if d == 1 else (r.pick(1, 3), r.pick(8, 12, 16))
    inputs = ["torch.zeros(b, %s)" % ", ".join(map(str, [c] + [s] * d))]
    layers = []
    for _ in range(r.randint(2, 7)):
        out = r.pick(8, 16, 32, 64, 20)
        kind = r.weighted(conv=5, norm=3, act=4, pool=2, drop=1, up=0.5, transposed=0.6, pad=0.3)
        if kind == "conv":
            k, dil = r.pick(1, 3, 3, 5), r.pick(1, 1, 2)
            layers.append("nn.Conv%dd(%d, %d, %d, padding=%d, dilation=%d%s)" % (d, c, out, k, dil * (k // 2), dil, r.pick("", ", bias=False")))
            c = out
        elif kind == "norm":
            layers.append(r.pick("nn.BatchNorm%dd(%d)" % (d, c), "nn.InstanceNorm%dd(%d, affine=True)" % (d, c), "nn.GroupNorm(1, %d)" % c, "nn.InstanceNorm%dd(%d)" % (d, c)))
        elif kind == "act":
            layers.append(activation(r))
        elif kind == "pool" and s >= 8:
            layers.append(r.pick("nn.MaxPool%dd(2)", "nn.AvgPool%dd(2)", "nn.MaxPool%dd(2, stride=2)") % d)
            s //= 2
        elif kind == "drop":
            layers.append(r.pick("nn.Dropout(0.2)", "nn.Dropout%dd(0.1)" % d))
        elif kind == "up" and s <= 64:
            layers.append("nn.Upsample(scale_factor=2%s)" % r.pick("", ", mode='%s'" % {1: "linear", 3: "trilinear"}[d]))
            s *= 2
        elif kind == "transposed" and s <= 64:
            layers.append("nn.ConvTranspose%dd(%d, %d, 4, stride=2, padding=1)" % (d, c, out))
            c, s = out, s * 2
        elif kind == "pad":
            layers.append(r.pick("nn.ConstantPad%dd(1, 0.0)", "nn.ReplicationPad%dd(1)") % d)
            s += 2
    n = r.pick(2, 10, 5)
    model = Model("", inputs=inputs, batch=(1, 2, 4, 8, 32))
    model.target, model.loss = classes(r, n)
    pool = r.pick("nn.AdaptiveAvgPool%dd(1)", "nn.AdaptiveMaxPool%dd(1)") % d
    layers += [pool, "nn.Flatten()", "nn.Linear(%d, %d)" % (c, n)]
    model.code = "Net = lambda: nn.Sequential(\n    %s)\n" % ",\n    ".join(layers)
    return model


def unet(r):
    widths = r.pick((16, 32), (16, 32, 64), (24, 48, 96), (8, 16, 32, 64))
    norm = r.pick("nn.BatchNorm2d(o)", "nn.GroupNorm(4, o)", "nn.InstanceNorm2d(o)", "nn.Identity()")
    up = r.pick("nn.ConvTranspose2d(i, o, 2, stride=2)", "nn.Sequential(nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True), nn.Conv2d(i, o, 1))",
                "nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(i, o, 3, padding=1))")
    join = r.pick("torch.cat([skip, x], dim=1)", "torch.cat((x, skip), 1)", "x + skip")
    inside = "o" if join == "x + skip" else "2 * o"
    down = r.pick("F.max_pool2d(x, 2)", "F.avg_pool2d(x, 2)", "self.pool(x)")
    n, s = r.pick(1, 2, 5), r.pick(32, 48, 64)
    act = r.pick("nn.ReLU(inplace=True)", "nn.SiLU()", "nn.LeakyReLU(0.1, inplace=True)")
    code = f"""
def double(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), {norm}, {act}, nn.Conv2d(o, o, 3, padding=1), {norm}, {act})


class Net(nn.Module):
    def __init__(self, widths={widths}, n={n}):
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        self.downs, self.ups, self.outs = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        i = 3
        for o in widths:
            self.downs.append(double(i, o))
            i = o
        self.middle = double(i, 2 * i)
        i = 2 * i
        for o in reversed(widths):
            self.ups.append({up})
            self.outs.append(double({inside}, o))
            i = o
        self.head = nn.Conv2d(i, n, 1)

    def forward(self, x):
        skips = []
        for layer in self.downs:
            x = layer(x)
            skips.append(x)
            x = {down}
        x = self.middle(x)
        for up, layer, skip in zip(self.ups, self.outs, skips[::-1]):
            x = up(x)
            x = layer({join})
        return self.head(x)
""".lstrip()
    model = Model(code, inputs=["torch.zeros(b, 3, %d, %d)" % (s, s)], images=True, batch=(1, 2, 4, 8))
    if n == 1:
        model.target = "torch.zeros(b, 1, %d, %d)" % (s, s)
        model.loss = r.pick("F.binary_cross_entropy_with_logits(out, y)", "1 - (2 * (out.sigmoid() * y).sum() + 1) / (out.sigmoid().sum() + y.sum() + 1)", regression(r))
    else:
        model.target, model.loss = "torch.zeros(b, %d, %d, dtype=torch.long)" % (s, s), "F.cross_entropy(out, y)"
    return model


def maker(r):
    """the drawn kind of vision model"""
    kind = r.weighted(network=6, one_or_three=1.5, unet=1)
    model = {"network": network, "one_or_three": one_or_three, "unet": unet}[kind](r)
    model.name = kind
    return model
