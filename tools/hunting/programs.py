"""Whole programs: what a drawn loop round one model has not, such as two optimizers, hooks, caches and caught failures."""

from .model import Model, activation
from .rand import indent


def whole(name, code, loop, net="nn.Identity()"):
    return Model(code.lstrip("\n"), net=net, half=False, amp=False, double=False, name=name, loop=loop.lstrip("\n"))


def perceptron(r, widths, last=""):
    act = activation(r, inplace=False)
    norm = r.pick("", "", "nn.LayerNorm(%d), ", "nn.BatchNorm1d(%d), ")
    layers = ["nn.Linear(%d, %d), %s%s" % (a, b, norm % b if norm else "", act) for a, b in zip(widths, widths[1:-1])]
    return "nn.Sequential(%s, nn.Linear(%d, %d)%s)" % (", ".join(layers), widths[-2], widths[-1], last)


def optimizer(r, params):
    return r.pick("torch.optim.Adam(%s, lr=2e-4, betas=(0.5, 0.999))", "torch.optim.AdamW(%s)", "torch.optim.RMSprop(%s, lr=5e-5)", "torch.optim.SGD(%s, lr=0.1, momentum=0.9)",
                  "torch.optim.Adam(%s, fused=True)", "torch.optim.AdamW(%s, foreach=False)") % params


def autocast(r, body):
    return body if r.chance(0.6) else "with torch.autocast('cuda', %s):\n" % r.pick("torch.float16", "torch.bfloat16") + indent(body)


def adversarial(r):
    """a generator and a critic, each with its optimizer"""
    z, w = r.pick(16, 100), r.pick(16, 32)
    b, s = r.pick(4, 8, 16), 16
    if r.chance(0.6):
        act = r.pick("nn.ReLU(True)", "nn.ReLU()", "nn.SiLU()")
        norm = r.pick("nn.BatchNorm2d", "nn.InstanceNorm2d")
        gen = ("nn.Sequential(nn.ConvTranspose2d(%d, %d, 4, 1, 0, bias=False), %s(%d), %s, nn.ConvTranspose2d(%d, %d, 4, 2, 1, bias=False), %s(%d), %s, "
               "nn.ConvTranspose2d(%d, 3, 4, 2, 1), nn.Tanh())" % (z, 2 * w, norm, 2 * w, act, 2 * w, w, norm, w, act, w))
        body = "nn.LeakyReLU(0.2%s)" % r.pick("", ", inplace=True")
        wrap = r.pick("%s", "%s", "nn.utils.spectral_norm(%s)")
        critic = "nn.Sequential(%s, %s, %s, %s, nn.Flatten(), nn.Linear(%d, 1))" % (wrap % ("nn.Conv2d(3, %d, 4, 2, 1)" % w), body, wrap % ("nn.Conv2d(%d, %d, 4, 2, 1)" % (w, 2 * w)), body, 2 * w * s)
        noise, real = "torch.randn(%d, %d, 1, 1, device='cuda')" % (b, z), "torch.zeros(%d, 3, %d, %d).cuda()" % (b, s, s)
    else:
        gen, critic = perceptron(r, (z, 64, 128, 784), ", nn.Tanh()"), perceptron(r, (784, 128, 64, 1))
        noise, real = "torch.randn(%d, %d, device='cuda')" % (b, z), "torch.zeros(%d, 784).cuda()" % b
    style = r.pick("bce", "wgan", "hinge", "lsgan")
    loss = {"bce": ("F.binary_cross_entropy_with_logits(D(real), torch.ones(%d, 1, device='cuda')) + F.binary_cross_entropy_with_logits(D(fake.detach()), torch.zeros(%d, 1, device='cuda'))" % (b, b),
                    "F.binary_cross_entropy_with_logits(D(fake), torch.ones(%d, 1, device='cuda'))" % b),
            "wgan": ("D(fake.detach()).mean() - D(real).mean()", "-D(fake).mean()"),
            "hinge": ("F.relu(1 - D(real)).mean() + F.relu(1 + D(fake.detach())).mean()", "-D(fake).mean()"),
            "lsgan": ("0.5 * ((D(real) - 1) ** 2).mean() + 0.5 * (D(fake.detach()) ** 2).mean()", "F.mse_loss(D(fake), torch.ones(%d, 1, device='cuda'))" % b)}[style]
    loop = "G, D = model.G, model.D\nopt_g, opt_d = %s, %s\nfor step in range(3):\n" % (optimizer(r, "G.parameters()"), optimizer(r, "D.parameters()"))
    body = "real = %s\nnoise = %s\n" % (real, noise)
    body += "opt_d.zero_grad()\n" + autocast(r, "fake = G(noise)\nloss_d = %s\n" % loss[0]) + "loss_d.backward()\nopt_d.step()\n"
    if style == "wgan":
        body += "for p in D.parameters():\n    p.data.clamp_(-0.01, 0.01)\n"
    freeze = r.chance(0.3)
    body += ("for p in D.parameters():\n    p.requires_grad_(False)\n" if freeze else "") + "opt_g.zero_grad()\n"
    body += r.pick("", "fake = G(noise)\n") + "loss_g = %s\nloss_g.backward()\nopt_g.step()\n" % loss[1]
    if freeze:
        body += "for p in D.parameters():\n    p.requires_grad_(True)\n"
    body += r.pick("", "print(loss_d.item(), loss_g.item())\n")
    code = "class Pair(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.G = %s\n        self.D = %s\n" % (gen, critic)
    return whole("adversarial", code, loop + indent(body), "Pair()")


def function_of_ones_own(r):
    """torch.autograd.Function"""
    bodies = {
        "relu": ("x", "ctx.save_for_backward(x)\nreturn x.clamp(min=0)\n", "(x,) = ctx.saved_tensors\ng = g.clone()\ng[x < 0] = 0\nreturn g\n", "Own.apply(h)"),
        "swish": ("x", "y = x * torch.sigmoid(x)\nctx.save_for_backward(x)\nreturn y\n", "x = ctx.saved_tensors[0]\ns = torch.sigmoid(x)\nreturn g * (s * (1 + x * (1 - s)))\n", "Own.apply(h)"),
        "exp": ("x", "y = x.exp()\nctx.save_for_backward(y)\nreturn y\n", "y, = ctx.saved_tensors\nreturn g * y\n", "Own.apply(h)"),
        "straight": ("x", "return (x > 0).to(x.dtype)\n", "return F.hardtanh(g)\n", "Own.apply(h)"),
        "reverse": ("x, k", "ctx.k = k\nreturn x.view_as(x)\n", "return -ctx.k * g, None\n", "Own.apply(h, 0.5)"),
        "scale": ("x, w", "ctx.save_for_backward(x, w)\nreturn x * w\n", "x, w = ctx.saved_tensors\nreturn g * w, (g * x).sum(0)\n", "Own.apply(h, self.w)"),
        "linear": ("x, w", "ctx.save_for_backward(x, w)\nreturn x @ w.t()\n",
                   "x, w = ctx.saved_tensors\na = b = None\nif ctx.needs_input_grad[0]:\n    a = g @ w\nif ctx.needs_input_grad[1]:\n    b = g.t() @ x\nreturn a, b\n", "Own.apply(h, self.m)"),
        "two": ("x", "a, b = x.sin(), x.cos()\nctx.save_for_backward(a, b)\nreturn a, b\n", "a, b = ctx.saved_tensors\nreturn g[0] * b - g[1] * a\n", "sum(Own.apply(h))"),
    }
    name = r.choice(list(bodies))
    arguments, forward, backward, call = bodies[name]
    d = r.pick(16, 64, 100)
    code = ("class Own(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, %s):\n%s\n    @staticmethod\n    def backward(ctx, %sg):\n%s\n\n"
            % (arguments, indent(forward, 8), "*" if name == "two" else "", indent(backward, 8)))
    code += ("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = nn.Linear(32, %d), nn.Linear(%d, 5)\n"
             "        self.w, self.m = nn.Parameter(torch.ones(%d)), nn.Parameter(torch.zeros(%d, %d))\n\n    def forward(self, x):\n        h = %s(self.a(x))\n        h = %s\n        return self.b(h * self.w)\n"
             % (d, d, d, d, d, r.pick("torch.tanh", "F.relu", ""), call))
    body = "x, y = torch.zeros(12, 32).cuda(), torch.zeros(12, dtype=torch.long).cuda()\nloss = F.cross_entropy(model(x), y)\nopt.zero_grad()\nloss.backward()\nopt.step()\n"
    return whole("own function, " + name, code, "opt = %s\nfor step in range(3):\n" % optimizer(r, "model.parameters()") + indent(body), "Net()")


def hooks(r):
    """hooks that look at, keep or change what flows"""
    d = r.pick(32, 64)
    code = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b, self.c = nn.Linear(20, %d), nn.Linear(%d, %d), nn.Linear(%d, 4)\n\n    def forward(self, x):\n        h = F.relu(self.a(x))\n%s        return self.c(torch.tanh(self.b(h)))\n" % (
        d, d, d, d, r.pick("", "        if h.requires_grad:\n            h.register_hook(lambda g: %s)\n" % r.pick("g * 0.5", "g.clamp(-1, 1)", "None", "seen.append(g.norm())")))
    head = "seen, kept = [], {}\n"
    code = "seen = []\n\n\n" + code
    for _ in range(r.randint(1, 3)):
        head += r.pick("model.b.register_forward_hook(lambda m, i, o: kept.update(b=o.detach()))\n", "model.a.register_forward_hook(lambda m, i, o: o * 2)\n",
                       "model.b.register_forward_pre_hook(lambda m, i: (i[0] + 1,))\n", "model.b.weight.register_hook(lambda g: g / 2)\n",
                       "model.c.register_forward_hook(lambda m, i, o: kept.update(c=o))\n", "for p in model.parameters():\n    p.register_hook(lambda g: g.clamp(-1, 1))\n",
                       "for p in model.parameters():\n    p.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.norm()) if len(seen) < 4 else None)\n")
    body = "x, y = torch.zeros(10, 20).cuda(), torch.zeros(10, dtype=torch.long).cuda()\nopt.zero_grad()\nout = model(x)\nloss = F.cross_entropy(out, y)\n"
    body += r.pick("", "out.retain_grad()\n") + "loss.backward()\nopt.step()\n" + r.pick("", "kept.clear()\n")
    return whole("hooks", code, head + "opt = %s\nfor step in range(3):\n" % optimizer(r, "model.parameters()") + indent(body), "Net()")


def partial_gradients(r):
    """torch.autograd.grad: attacks, saliency, several losses over one body"""
    d = r.pick(32, 100)
    code = ("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = %s\n        self.a, self.b = nn.Linear(%d, 5), nn.Linear(%d, 3)\n\n    def forward(self, x):\n        h = self.body(x)\n        return self.a(h), self.b(h)\n"
            % (perceptron(r, (24, 64, d)), d, d))
    kind = r.pick("attack", "saliency", "weights", "chained", "inputs")
    loop = {
        "attack": "x, y = torch.zeros(8, 24).cuda(), torch.zeros(8, dtype=torch.long).cuda()\nadv = x.clone().detach() + torch.empty_like(x).uniform_(-0.1, 0.1)\nfor i in range(3):\n    adv.requires_grad = True\n    loss = F.cross_entropy(model(adv)[0], y)\n    g = torch.autograd.grad(loss, adv)[0]\n    adv = adv.detach() + 0.01 * g.sign()\n    adv = torch.clamp(x + torch.clamp(adv - x, -0.1, 0.1), 0, 1).detach()\n",
        "saliency": "x = torch.zeros(8, 24, device='cuda', requires_grad=True)\nfor i in range(3):\n    out = model(x)[0]\n    out[:, i].sum().backward()\n    s = x.grad.abs().amax(1)\n    x.grad.zero_()\n",
        "weights": "x, shared = torch.zeros(8, 24).cuda(), [p for p in model.body.parameters()]\nopt = torch.optim.Adam(model.parameters())\nfor i in range(2):\n    a, b = model(x)\n    ga = torch.autograd.grad(a.sum(), shared, retain_graph=True)\n    gb = torch.autograd.grad(b.sum(), shared, retain_graph=True)\n    n = torch.stack([torch.stack([g.norm() for g in gs]).norm() for gs in (ga, gb)])\n    opt.zero_grad()\n    (a.sum() + 0.5 * b.sum()).backward()\n    opt.step()\n    del ga, gb\n",
        "chained": "x = torch.zeros(8, 24).cuda()\nfor i in range(2):\n    a, b = model(x)\n    a.sum().backward(retain_graph=True)\n    b.pow(2).mean().backward()\n    with torch.no_grad():\n        for p in model.parameters():\n            p -= 0.1 * p.grad\n            p.grad = None\n",
        "inputs": "x = torch.zeros(8, 24).cuda()\nopt = torch.optim.SGD(model.a.parameters(), lr=0.1)\nfor i in range(3):\n    a, b = model(x)\n    a.sum().backward(inputs=list(model.a.parameters()))\n    opt.step()\n    opt.zero_grad()\n",
    }[kind]
    return whole("autograd.grad, " + kind, code, loop, "Net()")


def decoding(r):
    """a decoder that keeps keys and values"""
    heads = r.pick(2, 4)
    d, v, layers = heads * r.pick(16, 32), r.pick(100, 1000), r.randint(1, 3)
    kept = r.pick("cat", "cat", "written")
    grow = ("        if past is not None:\n            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)\n        new = (k, v)\n" if kept == "cat" else
            "        if past is None:\n            past = (k.new_zeros(b, %d, 64, %d), k.new_zeros(b, %d, 64, %d))\n        past[0][:, :, at:at + t] = k\n        past[1][:, :, at:at + t] = v\n"
            "        k, v, new = past[0][:, :, :at + t], past[1][:, :, :at + t], past\n" % ((heads, d // heads) * 2))
    attend = r.pick("F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)", "torch.softmax((q @ k.transpose(-2, -1)) * %r, dim=-1) @ v" % ((d // heads) ** -0.5))
    code = f"""
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear({d}, {3 * d}), nn.Linear({d}, {d})
        self.n1, self.n2 = nn.LayerNorm({d}), {r.pick("nn.LayerNorm", "nn.RMSNorm")}({d})
        self.down = nn.Linear({2 * d}, {d})
        self.up, self.gate = nn.Linear({d}, {2 * d}), nn.Linear({d}, {2 * d})

    def forward(self, x, past, at):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, {heads}, {d // heads}).transpose(1, 2) for z in self.qkv(self.n1(x)).split(c, dim=-1))
{grow}        y = {attend}
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h)), new


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding({v}, {d}), nn.Embedding(64, {d})
        self.blocks = nn.ModuleList([Block() for _ in range({layers})])
        self.head = nn.Linear({d}, {v}, bias=False)

    def forward(self, ids, past=None, at=0):
        x = self.tok(ids) + self.pos(torch.arange(at, at + ids.shape[1], device=ids.device))
        news = []
        for i, block in enumerate(self.blocks):
            x, new = block(x, None if past is None else past[i], at)
            news.append(new)
        return self.head(x[:, -1]), news
"""
    b, t = r.pick(1, 1, 2, 4), r.pick(1, 5, 16)
    choose = r.pick("logits.argmax(dim=-1, keepdim=True)", "torch.multinomial(F.softmax(logits / 0.8, dim=-1), 1)", "torch.topk(logits, 5)[1][:, :1]")
    dtype = r.pick("", "", "model.half()\n", "model.to(torch.bfloat16)\n")
    loop = (dtype + "model.eval()\nwith %s:\n    ids = torch.zeros(%d, %d, dtype=torch.long, device='cuda')\n    logits, past = model(ids)\n    at = %d\n    for i in range(%d):\n"
            "        new = %s\n        ids = torch.cat([ids, new], dim=1)\n        logits, past = model(new, past, at)\n        at += 1\n" % (r.pick("torch.no_grad()", "torch.inference_mode()"), b, t, t, r.randint(3, 12), choose))
    return whole("decoding, " + kept, code, loop, "Net()")


def steps_in_time(r):
    """recurrent cells in a loop of the program's own"""
    d, h, v, t = r.pick(16, 32), r.pick(32, 48, 100), r.pick(50, 300), r.randint(3, 9)
    cell = r.weighted(LSTMCell=2, GRUCell=2, RNNCell=1, own=2)
    if cell == "own":
        made = "self.w, self.u = nn.Linear(%d, %d), nn.Linear(%d, %d, bias=False)" % (d, 4 * h, h, 4 * h)
        step = "i, f, g, o = %s\n            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)\n            h = torch.sigmoid(o) * torch.tanh(c)" % r.pick(
            "(self.w(x) + self.u(h)).chunk(4, dim=1)", "torch.split(self.w(x) + self.u(h), %d, dim=-1)" % h)
    else:
        made = "self.cell = nn.%s(%d, %d)" % (cell, d, h)
        step = "h, c = self.cell(x, (h, c))" if cell == "LSTMCell" else "h = self.cell(x, h)"
    read = r.pick("x = e[:, k]", "x = e[:, k, :]", "x = self.emb(ids[:, k])")
    joined = r.pick("torch.stack(outs, 1)", "torch.stack(outs, dim=0).transpose(0, 1)", "torch.cat([o.unsqueeze(1) for o in outs], dim=1)")
    code = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding({v}, {d})
        {made}
        self.out = nn.Linear({h}, {v})

    def forward(self, ids, state=None):
        e = self.emb(ids)
        h, c = state if state is not None else (e.new_zeros(ids.size(0), {h}), e.new_zeros(ids.size(0), {h}))
        outs = []
        for k in range(ids.size(1)):
            {read}
            {step}
            outs.append({r.pick("self.out(h)", "h")})
        y = {joined}
        return (self.out(y) if y.size(-1) == {h} and y.size(-1) != {v} else y), (h, c)
"""
    body = "ids = torch.zeros(%d, %d, dtype=torch.long).cuda()\n" % (r.pick(1, 4, 10), t)
    carried = r.chance(0.5)
    body += autocast(r, "out, state = model(ids, %s)\nloss = F.cross_entropy(out.reshape(-1, %d), ids.reshape(-1))\n" % ("state" if carried else "None", v))
    if carried:
        body += "state = tuple(s.detach() for s in state)\n"
    body += "opt.zero_grad()\nloss.backward()\n" + r.pick("", "nn.utils.clip_grad_norm_(model.parameters(), 0.25)\n") + "opt.step()\n"
    return whole("steps in time, " + cell, code, "state = None\nopt = %s\nfor step in range(3):\n" % optimizer(r, "model.parameters()") + indent(body), "Net()")


def forced_teacher(r):
    """sequence to sequence, one token at a time"""
    d, h, v, t = r.pick(16, 32), r.pick(32, 64), r.pick(60, 200), r.randint(4, 8)
    attention = r.chance(0.5)
    feed = r.pick("trg[:, k]", "out.argmax(1)", "trg[:, k] if k % 2 else out.argmax(1)")
    context = ("            w = torch.softmax(torch.bmm(states, self.q(h[-1]).unsqueeze(2)).squeeze(2), dim=1)\n            e = torch.cat([e, torch.bmm(w.unsqueeze(1), states)], dim=2)\n" if attention else "")
    code = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.src, self.trg = nn.Embedding({v}, {d}), nn.Embedding({v}, {d})
        self.enc, self.dec = nn.GRU({d}, {h}, batch_first=True), nn.GRU({d + h * attention}, {h}, batch_first=True)
        self.q, self.out = nn.Linear({h}, {h}), nn.Linear({h}, {v})

    def forward(self, src, trg):
        states, h = self.enc(self.src(src))
        token, outs = trg[:, 0], []
        for k in range(1, trg.size(1)):
            e = self.trg(token).unsqueeze(1)
{context}            y, h = self.dec(e, h)
            out = self.out(y.squeeze(1))
            outs.append(out)
            token = {feed}
        return torch.stack(outs, dim=1)
"""
    b = r.pick(1, 3, 8)
    body = ("src, trg = torch.zeros(%d, %d, dtype=torch.long).cuda(), torch.zeros(%d, %d, dtype=torch.long).cuda()\nout = model(src, trg)\n"
            "loss = F.cross_entropy(out.reshape(-1, %d), trg[:, 1:].reshape(-1))\nopt.zero_grad()\nloss.backward()\nopt.step()\n" % (b, t + 1, b, t, v))
    return whole("teacher", "torch.backends.cudnn.enabled = False\n" + code, "opt = %s\nfor step in range(2):\n" % optimizer(r, "model.parameters()") + indent(body), "Net()")


def caught(r):
    """a batch that does not fit, caught"""
    d = r.pick(512, 1024)
    big, small = r.pick(2 ** 19, 2 ** 20), r.pick(64, 4096)
    body = "for n in [%d, %d, %d]:\n" % (small, big, small)
    handler = r.pick("        opt.zero_grad()\n        torch.cuda.empty_cache()\n", "        torch.cuda.empty_cache()\n", "        pass\n", "        del x\n        torch.cuda.empty_cache()\n",
                     "        for p in model.parameters():\n            p.grad = None\n")
    body += ("    try:\n        x = torch.zeros(n, %d, device='cuda')\n        loss = model(x).sum()\n        loss.backward()\n        opt.step()\n        opt.zero_grad()\n    except %s:\n" % (
        d, r.pick("torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError as e", "RuntimeError as e"))) + handler
    model = whole("caught", "Net = lambda: %s\n" % perceptron(r, (d, d, d)), "opt = torch.optim.Adam(model.parameters())\n" + body, "Net()")
    model.total = r.pick(4, 8) * 2 ** 30
    return model


def maker(r):
    """the drawn kind of program"""
    kinds = {adversarial: 2, function_of_ones_own: 2, hooks: 1.5, partial_gradients: 1.5, decoding: 2, steps_in_time: 2, forced_teacher: 1, caught: 0.7}
    return r.choices(list(kinds), list(kinds.values()))[0](r)
