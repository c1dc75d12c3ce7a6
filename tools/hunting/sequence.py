"""Networks over sequences: attention in its many hands, recurrent stacks, mixtures."""

from .model import Model, activation, classes, function


def attention(r, d, heads):
    """class Attention(x [b, t, d])"""
    bias = r.pick("", ", bias=False")
    causal = r.chance(0.5)
    split = r.weighted(fused=3, three=3, gqa=1.2)
    kv = heads if split != "gqa" else max(h for h in (1, 2, heads) if heads % h == 0 and h < heads or h == 1)
    e = d // heads
    init = {"fused": "self.qkv = nn.Linear(%d, %d%s)\n" % (d, 3 * d, bias),
            "three": "self.q, self.k, self.v = (nn.Linear(%d, %d%s) for _ in range(3))\n" % (d, d, bias),
            "gqa": "self.q = nn.Linear(%d, %d%s)\nself.kv = nn.Linear(%d, %d%s)\n" % (d, d, bias, d, 2 * kv * e, bias)}[split]
    init += "self.proj = nn.Linear(%d, %d%s)\n" % (d, d, bias)
    body = "b, t, _ = x.shape\n"
    if split == "fused":
        body += r.pick("q, k, v = self.qkv(x).chunk(3, dim=-1)\nq, k, v = (z.view(b, t, %d, %d).transpose(1, 2) for z in (q, k, v))\n" % (heads, e),
                       "qkv = self.qkv(x).reshape(b, t, 3, %d, %d).permute(2, 0, 3, 1, 4)\nq, k, v = qkv[0], qkv[1], qkv[2]\n" % (heads, e),
                       "q, k, v = self.qkv(x).split(%d, dim=2)\nq = q.view(b, t, %d, %d).transpose(1, 2)\nk = k.view(b, t, %d, %d).transpose(1, 2)\n"
                       "v = v.view(b, t, %d, %d).transpose(1, 2)\n" % ((d,) + (heads, e) * 3),
                       "qkv = self.qkv(x).view(b, t, 3, %d, %d).permute(2, 0, 3, 1, 4)\nq, k, v = qkv.unbind(0)\n" % (heads, e))
    elif split == "three":
        body += "q = self.q(x).view(b, t, %d, %d).transpose(1, 2)\nk = self.k(x).view(b, t, %d, %d).transpose(1, 2)\nv = self.v(x).view(b, t, %d, %d).transpose(1, 2)\n" % ((heads, e) * 3)
    else:
        body += "q = self.q(x).view(b, t, %d, %d).transpose(1, 2)\nk, v = self.kv(x).view(b, t, 2, %d, %d).permute(2, 0, 3, 1, 4)\n" % (heads, e, kv, e)
    if r.chance(0.25) and e % 2 == 0:
        init += "inv = 1.0 / 10000 ** (torch.arange(0, %d, 2).float() / %d)\nself.register_buffer('inv', inv)\n" % (e, e)
        body += ("freqs = torch.outer(torch.arange(t, device=x.device).float(), self.inv.float())\ncos, sin = freqs.cos().to(x.dtype), freqs.sin().to(x.dtype)\n"
                 "cos, sin = torch.cat([cos, cos], -1), torch.cat([sin, sin], -1)\n"
                 "def rot(z):\n    a, c = z.chunk(2, dim=-1)\n    return z * cos + torch.cat([-c, a], dim=-1) * sin\nq, k = rot(q), rot(k)\n")
    if r.chance(0.12):
        init += "self.qn, self.kn = nn.%s(%d), nn.%s(%d)\n" % ((r.pick("LayerNorm", "RMSNorm"), e) * 2)
        body += "q, k = self.qn(q), self.kn(k)\n"
    native = r.chance(0.3)
    if kv != heads and not native:
        body += r.pick("k, v = k.repeat_interleave(%d, dim=1), v.repeat_interleave(%d, dim=1)\n" % (heads // kv, heads // kv),
                       "k = k[:, :, None].expand(b, %d, %d, t, %d).reshape(b, %d, t, %d)\nv = v[:, :, None].expand(b, %d, %d, t, %d).reshape(b, %d, t, %d)\n"
                       % ((kv, heads // kv, e, heads, e) * 2))
    if kv != heads and native:
        body += "y = F.scaled_dot_product_attention(q, k, v, is_causal=%s, enable_gqa=True)\n" % causal
    elif r.chance(0.5):
        drop = r.pick("", "", ", dropout_p=0.1 if self.training else 0.0")
        mask = r.chance(0.15)
        if mask:
            body += r.pick("mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()\n",
                           "mask = torch.full((t, t), float('-inf'), device=x.device, dtype=q.dtype).triu(1)\n")
        body += "y = F.scaled_dot_product_attention(q, k, v%s%s)\n" % (", attn_mask=mask" if mask else ", is_causal=True" if causal else "", drop)
    else:
        body += r.pick("att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(%d))\n" % e, "att = torch.matmul(q, k.transpose(2, 3)) / %d ** 0.5\n" % e,
                       "att = torch.einsum('bhid,bhjd->bhij', q, k) * %r\n" % (e ** -0.5), "q = q * %r\natt = q @ k.mT\n" % (e ** -0.5))
        if r.chance(0.2):
            init += "slopes = torch.tensor([2 ** (-8 * (i + 1) / %d) for i in range(%d)])\nself.register_buffer('slopes', slopes)\n" % (heads, heads)
            body += "pos = torch.arange(t, device=x.device)\natt = att + (self.slopes[:, None, None] * (pos[None, :] - pos[:, None])[None]).to(att.dtype)\n"
        if causal:
            body += r.pick("att = att.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool, device=x.device), 1), float('-inf'))\n",
                           "mask = torch.tril(torch.ones(t, t, device=x.device))\natt = att.masked_fill(mask == 0, float('-inf'))\n",
                           "att = att + torch.full((t, t), float('-inf'), device=x.device).triu(1)\n",
                           "att = torch.where(torch.ones(t, t, dtype=torch.bool, device=x.device).tril(), att, torch.tensor(-1e4, device=x.device, dtype=att.dtype))\n")
        body += r.pick("att = F.softmax(att, dim=-1)\n", "att = att.softmax(-1)\n", "att = torch.softmax(att, dim=-1, dtype=torch.float32).to(q.dtype)\n",
                       "att = torch.softmax(att.float(), dim=-1).type_as(q)\n")
        if r.chance(0.4):
            init += "self.drop = nn.Dropout(0.1)\n"
            body += "att = self.drop(att)\n"
        body += r.pick("y = att @ v\n", "y = torch.matmul(att, v)\n", "y = torch.einsum('bhij,bhjd->bhid', att.to(v.dtype), v)\n")
    body += r.pick("y = y.transpose(1, 2).contiguous().view(b, t, %d)\n", "y = y.transpose(1, 2).reshape(b, t, %d)\n", "y = y.permute(0, 2, 1, 3).flatten(2)\n" if r.chance(0.99) else "",).replace("%d", str(d))
    body += "return self.proj(y)\n"
    return _module("Attention", init, "self, x", body)


def _module(name, init, arguments, body, more=""):
    pad = lambda text: "".join("        " + line + "\n" for line in text.splitlines())  # noqa: E731
    return "class %s(nn.Module):\n    def __init__(self%s):\n        super().__init__()\n%s\n    def forward(%s):\n%s" % (name, more, pad(init), arguments, pad(body))


def feed(r, d):
    """class Feed(x)"""
    kind = r.weighted(mlp=4, swiglu=2, moe=1, glu=0.5, conv=0.4)
    h = r.pick(2, 4, 3) * d
    if kind == "mlp":
        drop = r.pick("", ", nn.Dropout(0.1)")
        return "class Feed(nn.Sequential):\n    def __init__(self):\n        super().__init__(nn.Linear(%d, %d), %s, nn.Linear(%d, %d)%s)\n" % (d, h, activation(r), h, d, drop)
    if kind == "swiglu":
        return _module("Feed", "self.w1, self.w2, self.w3 = nn.Linear(%d, %d, bias=False), nn.Linear(%d, %d, bias=False), nn.Linear(%d, %d, bias=False)\n" % (d, h, h, d, d, h),
                       "self, x", "return self.w2(F.silu(self.w1(x)) * self.w3(x))\n")
    if kind == "glu":
        return _module("Feed", "self.up, self.down = nn.Linear(%d, %d), nn.Linear(%d, %d)\n" % (d, 2 * h, h, d), "self, x",
                       r.pick("return self.down(F.glu(self.up(x)))\n", "a, g = self.up(x).chunk(2, -1)\nreturn self.down(a * F.gelu(g))\n"))
    if kind == "conv":
        return _module("Feed", "self.a, self.b = nn.Conv1d(%d, %d, 3, padding=1), nn.Conv1d(%d, %d, 1)\n" % (d, h, h, d), "self, x",
                       "return self.b(F.relu(self.a(x.transpose(1, 2)))).transpose(1, 2)\n")
    n = r.pick(2, 4)
    return _module("Feed", "self.gate = nn.Linear(%d, %d, bias=False)\nself.experts = nn.ModuleList(nn.Sequential(nn.Linear(%d, %d), nn.GELU(), nn.Linear(%d, %d)) for _ in range(%d))\n"
                   % (d, n, d, h, h, d, n), "self, x",
                   r.pick("w = self.gate(x).softmax(-1)\nys = torch.stack([e(x) for e in self.experts], dim=-1)\nreturn (ys * w.unsqueeze(-2)).sum(-1)\n",
                          "w, idx = torch.topk(F.softmax(self.gate(x), dim=-1), 1, dim=-1)\nout = torch.zeros_like(x)\nfor i, e in enumerate(self.experts):\n"
                          "    out = out + e(x) * (w * (idx == i)).sum(-1, keepdim=True)\nreturn out\n"))


def norm(r, d):
    return r.pick("nn.LayerNorm(%d)" % d, "nn.LayerNorm(%d)" % d, "nn.RMSNorm(%d)" % d, "nn.LayerNorm(%d, bias=False)" % d, "RMS(%d)" % d, "nn.LayerNorm(%d, elementwise_affine=False)" % d)


RMS = """
class RMS(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x):
        return %s
"""


def rms(r):
    return RMS % r.pick("self.weight * (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)",
                        "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight",
                        "self.weight * (x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + self.eps))",
                        "F.normalize(x, dim=-1) * self.weight * x.shape[-1] ** 0.5")


def transformer(r):
    heads = r.pick(1, 2, 4, 8, 12)
    d = heads * r.pick(8, 16, 32, 64, 20)
    t, v, layers = r.pick(16, 32, 64, 100, 128, 256, 33), r.pick(100, 1000, 5000, 50257), r.randint(1, 4)
    block = "self.n1, self.n2 = %s, %s\nself.attn, self.feed = Attention(), Feed()\n" % ((norm(r, d),) * 2)
    body = r.pick("x = x + self.attn(self.n1(x))\nreturn x + self.feed(self.n2(x))\n", "x = self.n1(x + self.attn(x))\nreturn self.n2(x + self.feed(x))\n",
                  "h = self.n1(x)\nreturn x + self.attn(h) + self.feed(h)\n", "x += self.attn(self.n1(x))\nx += self.feed(self.n2(x))\nreturn x\n" if r.chance(0.3) else
                  "y = self.attn(self.n1(x))\nx = x + y\ny = self.feed(self.n2(x))\nx = x + y\nreturn x\n")
    code = attention(r, d, heads) + "\n\n" + feed(r, d) + "\n\n" + _module("Block", block, "self, x", body)
    head = r.weighted(lm=4, classify=2, vit=2)
    init, fwd = "", ""
    model = Model("", batch=(1, 2, 4, 8, 16))
    if head == "vit":
        s, p = r.pick((32, 8), (32, 4), (64, 16), (48, 8))
        n = (s // p) ** 2
        token = r.chance(0.5)
        init += "self.patch = nn.Conv2d(3, %d, %d, %d)\nself.pos = nn.Parameter(torch.zeros(1, %d, %d))\n" % (d, p, p, n + token, d)
        fwd += r.pick("x = self.patch(x).flatten(2).transpose(1, 2)\n", "x = self.patch(x)\nx = x.reshape(x.shape[0], x.shape[1], -1).permute(0, 2, 1)\n")
        if token:
            init += "self.cls = nn.Parameter(torch.zeros(1, 1, %d))\n" % d
            fwd += r.pick("x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1)\n", "x = torch.cat((self.cls.repeat(x.size(0), 1, 1), x), 1)\n")
        fwd += "x = x + self.pos\n"
        model.inputs, model.images = ["torch.zeros(b, 3, %d, %d)" % (s, s)], True
    else:
        init += "self.tok = nn.Embedding(%d, %d%s)\n" % (v, d, r.pick("", "", ", padding_idx=0"))
        fwd += "x = self.tok(ids)\n"
        pos = r.weighted(table=3, param=1, sin=1, none=1)
        if pos == "table":
            init += "self.pos = nn.Embedding(%d, %d)\n" % (t, d)
            fwd = r.pick("x = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))\n",
                         "pos = torch.arange(0, ids.size(1), dtype=torch.long, device=ids.device).unsqueeze(0)\nx = self.tok(ids) + self.pos(pos)\n")
        elif pos == "param":
            init += "self.pos = nn.Parameter(torch.zeros(1, %d, %d))\n" % (t, d)
            fwd += "x = x + self.pos[:, :x.size(1)]\n"
        elif pos == "sin":
            init += ("pe = torch.zeros(%d, %d)\npos = torch.arange(%d).unsqueeze(1)\ndiv = torch.exp(torch.arange(0, %d, 2) * (-math.log(10000.0) / %d))\n"
                     "pe[:, 0::2] = torch.sin(pos * div)\npe[:, 1::2] = torch.cos(pos * div)\nself.register_buffer('pe', pe.unsqueeze(0))\n" % (t, d, t, d, d))
            fwd += "x = x * math.sqrt(%d) + self.pe[:, :x.size(1)]\n" % d
        if r.chance(0.3):
            init += "self.drop = nn.Dropout(0.1)\n"
            fwd += "x = self.drop(x)\n"
        model.inputs = ["torch.zeros(b, %d, dtype=torch.long)" % t]
    n = r.pick(2, 10, 77)
    init += "self.blocks = %s\nself.norm = %s\n" % (r.pick("nn.ModuleList([Block() for _ in range(%d)])" % layers, "nn.Sequential(*[Block() for _ in range(%d)])" % layers), norm(r, d))
    runs = "for block in self.blocks:\n    x = block(x)\n"
    if r.chance(0.15):
        runs = "for block in self.blocks:\n    x = checkpoint(block, x, use_reentrant=%s)\n" % r.pick("False", "False", "True" if head == "vit" and False else "False")
    fwd += runs
    if head == "lm":
        init += "self.head = nn.Linear(%d, %d, bias=False)\n" % (d, v) + ("self.head.weight = self.tok.weight\n" if r.chance(0.4) else "")
        fwd += "return self.head(self.norm(x))\n"
        model.target = "torch.zeros(b, %d, dtype=torch.long)" % t
        model.loss = r.pick("F.cross_entropy(out.view(-1, out.size(-1)), y.view(-1))", "F.cross_entropy(out.transpose(1, 2), y)",
                            "F.cross_entropy(out[:, :-1].reshape(-1, out.shape[-1]), y[:, 1:].reshape(-1))", "F.cross_entropy(out.flatten(0, 1).float(), y.flatten())",
                            "F.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1), ignore_index=0, label_smoothing=0.1)")
    else:
        init += "self.head = nn.Linear(%d, %d)\n" % (d, n)
        fwd += "x = self.norm(x)\n" + r.pick("return self.head(x[:, 0])\n", "return self.head(x.mean(dim=1))\n", "return self.head(x.max(dim=1).values)\n", "return self.head(x[:, -1, :])\n")
        model.target, model.loss = classes(r, n)
    code += "\n\n" + _module("Net", init, "self, ids" if head != "vit" else "self, x", fwd)
    if "RMS(" in code:
        code = rms(r).lstrip("\n") + "\n\n" + code
    if "checkpoint(" in code:
        code = "from torch.utils.checkpoint import checkpoint\n\n\n" + code
    model.code, model.name = code, head
    return model


def library(r):
    """nn.Transformer and its parts"""
    heads = r.pick(2, 4, 8)
    d = heads * r.pick(8, 16, 32)
    t, v = r.pick(10, 32, 64), r.pick(100, 2000)
    options = "".join(", " + o for o in r.some(["batch_first=True", "norm_first=True", "dropout=0.0", "activation='gelu'", "dim_feedforward=%d" % (3 * d)], 0) if not o.startswith("batch")) + ", batch_first=True"
    kind = r.weighted(encoder=3, mha=2, full=1.5, rnn=3, decoder=1)
    model = Model("", inputs=["torch.zeros(b, %d, dtype=torch.long)" % t], batch=(1, 2, 4, 8, 20), name=kind)
    init, fwd = "self.emb = nn.Embedding(%d, %d)\n" % (v, d), "x = self.emb(ids)\n"
    n = r.pick(2, 10)
    if kind == "encoder":
        init += "self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(%d, %d%s), %d%s)\n" % (d, heads, options, r.randint(1, 3), r.pick("", ", norm=nn.LayerNorm(%d)" % d))
        fwd += r.pick("x = self.enc(x)\n", "mask = nn.Transformer.generate_square_subsequent_mask(x.size(1), device=x.device, dtype=x.dtype)\nx = self.enc(x, mask=mask)\n",
                      "x = self.enc(x, src_key_padding_mask=(ids == 1))\n")
    elif kind == "decoder":
        init += "self.dec = nn.TransformerDecoder(nn.TransformerDecoderLayer(%d, %d%s), 2)\nself.mem = nn.Parameter(torch.zeros(1, 7, %d))\n" % (d, heads, options, d)
        fwd += "x = self.dec(x, self.mem.expand(x.size(0), -1, -1))\n"
    elif kind == "full":
        init += "self.tr = nn.Transformer(%d, %d, num_encoder_layers=%d, num_decoder_layers=%d%s)\n" % (d, heads, r.randint(1, 2), r.randint(1, 2), options)
        fwd += r.pick("x = self.tr(x, x)\n", "mask = nn.Transformer.generate_square_subsequent_mask(x.size(1)).to(x)\nx = self.tr(x, x, tgt_mask=mask)\n")
    elif kind == "mha":
        init += "self.att, self.n = nn.MultiheadAttention(%d, %d, batch_first=True%s), nn.LayerNorm(%d)\n" % (d, heads, r.pick("", ", dropout=0.1", ", bias=False"), d)
        fwd += r.pick("y, w = self.att(x, x, x)\n", "y, _ = self.att(x, x, x, need_weights=False)\n", "h = self.n(x)\ny = self.att(h, h, h)[0]\n",
                      "y, _ = self.att(x, x, x, key_padding_mask=(ids == 3))\n") + "x = self.n(x + y)\n"
    else:
        which, layers, two = r.pick("LSTM", "GRU", "RNN"), r.randint(1, 3), r.chance(0.3)
        h = r.pick(32, 64, 100)
        init += "self.rnn = nn.%s(%d, %d, %d, batch_first=True%s%s)\n" % (which, d, h, layers, ", bidirectional=True" if two else "", ", dropout=0.2" if layers > 1 and r.chance(0.5) else "")
        fwd += r.pick("x, _ = self.rnn(x)\n", "x, state = self.rnn(x)\n")
        d = h * (1 + two)
        model.half = False
    init += "self.head = nn.Linear(%d, %d)\n" % (d, n)
    fwd += r.pick("return self.head(x[:, -1])\n", "return self.head(x.mean(1))\n", "return self.head(x[:, 0])\n")
    model.target, model.loss = classes(r, n)
    model.code = _module("Net", init, "self, ids", fwd)
    return model


def maker(r):
    return library(r) if r.chance(0.3) else transformer(r)
