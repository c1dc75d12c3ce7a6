"""Networks over rows and vectors: perceptrons, embeddings, encoders with noise, graphs, and single statements put together."""

from .model import Model, activation, classes, function, regression

BODIES = (  # forward of [b, {d}] to [b, {d}]: what people write between two layers
    "x = x + self.f(x)", "x = self.f(x) * torch.sigmoid(self.g(x))", "x = torch.cat([self.f(x), x], dim=-1)[:, :{d}]", "x = x - x.mean(dim=0, keepdim=True)",
    "x = (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5)", "x = F.normalize(self.f(x), dim=1)", "x = torch.where(x > 0, x, 0.1 * x)",
    "x = x.clamp(-3, 3)", "a, c = self.f(x).chunk(2, dim=1)\nx = torch.cat([a * c.sigmoid(), c], 1)", "x = torch.stack([x, self.f(x)], dim=0).sum(0)",
    "x = x[:, torch.arange({d} - 1, -1, -1, device=x.device)]", "x = x.flip(1)", "x = x.roll(1, dims=-1)", "x = torch.cumsum(x, dim=1) / {d}",
    "x = x.masked_fill(x < 0, 0.0)", "v, i = x.topk({h}, dim=1)\nx = torch.zeros_like(x).scatter(1, i, v)", "x = x.sort(dim=1).values", "x = torch.sqrt(x ** 2 + 1)",
    "x = torch.exp(-x.abs())", "x = torch.log1p(F.relu(x))", "x = torch.einsum('bi,ij->bj', x, self.f.weight)", "x = x @ self.f.weight.t()",
    "x = torch.bmm(x.unsqueeze(1), self.f.weight.expand(x.size(0), -1, -1)).squeeze(1)", "x = x * self.scale + self.shift", "x = torch.addmm(self.shift, x, self.f.weight)",
    "x = F.dropout(x, 0.2, self.training)", "x = F.layer_norm(x, (x.size(-1),))", "x = torch.maximum(x, self.g(x))", "x = torch.lerp(x, self.f(x), 0.3)",
    "x = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)", "x = torch.gather(x, 1, x.argsort(dim=1))", "x = x.index_select(1, torch.arange({d}, device=x.device))",
    "m = torch.rand_like(x) > 0.5\nx = x * m", "x = torch.softmax(x, dim=-1) * x", "x = (x.unsqueeze(1) * x.unsqueeze(2)).mean(2)", "x = x.view(x.size(0), 2, -1).transpose(1, 2).reshape(x.size(0), -1)",
    "h = x\nfor _ in range(3):\n    h = torch.tanh(self.f(h))\nx = x + h", "x = x.detach() + (self.f(x) - self.f(x).detach())", "with torch.no_grad():\n    s = x.abs().mean()\nx = x / (s + 1)",
    "x = torch.sum(torch.stack([f(x) for f in (self.f, self.g)]), dim=0)", "parts = x.split({h}, dim=1)\nx = torch.cat([p * (i + 1) for i, p in enumerate(parts)], dim=1)",
    "x = x.float().pow(2).add(1e-3).sqrt().to(x.dtype)", "x = x.unsqueeze(-1).repeat(1, 1, 3).mean(-1)", "x = F.pad(x, (1, 1))[:, 1:-1]", "x = torch.diagonal(x[:, :, None] * x[:, None, :], dim1=1, dim2=2)",
    "x = torch.outer(x[:, 0], self.shift)", "x = x.t().contiguous().t()", "x = F.gumbel_softmax(x, tau=0.5, dim=-1)", "x = torch.prod(torch.stack([x, x + 1], -1), -1)",
    "idx = x.argmax(dim=1)\nx = x + F.one_hot(idx, {d}).to(x.dtype)", "x = x * x.var(dim=1, keepdim=True)", "x = x.amax(1, keepdim=True) - x", "x = x.logsumexp(1, keepdim=True) - x",
    "y = self.f(x)\ny[:, 0] = 0\nx = y", "x = x.clone()\nx[x < 0] = 0", "x = self.f(x).add_(x).mul_(0.5)", "z = x.unbind(1)\nx = torch.stack(z[::-1], dim=1)",
    "x = torch.tanh(self.f(x))\nx = x * x", "x = F.linear(x, self.f.weight + self.g.weight, self.shift)", "x = torch.cdist(x, self.f.weight)", "x = torch.baddbmm(self.shift, x[:, None], self.g.weight[None].expand(x.size(0), -1, -1))[:, 0]",
    "x = x.reshape(-1, {h}).mean(-1, keepdim=True).expand(-1, {h}).reshape(x.shape)", "x = torch.clamp(x, max=1.0).expm1()", "x = x.nan_to_num()", "x = x.median(dim=1, keepdim=True).values + x", "x = torch.atan2(x, x + 1)", "x = torch.minimum(x, self.shift)", "x = x.neg().erf()", "x = F.hardtanh(x).square()", "x = torch.tril(x[:, :, None].expand(-1, -1, {d})).sum(-1)",
)


def mlp(r):
    d, n = r.pick(16, 32, 64, 128, 256, 50), r.pick(2, 3, 10, 100)
    if d % 2:
        d += 1
    enter = r.pick(10, 30, 100, 784)
    bodies = [b.format(d=d, h=d // 2) for b in r.sample(BODIES, r.randint(1, 6))]
    lines = []
    for body in bodies:
        lines += body.splitlines()
        if r.chance(0.5):
            lines.append("x = " + function(r).format(x="self.h(x)" if r.chance(0.5) else "x.clone()"))
    text = "".join("        " + line + "\n" for line in lines)
    code = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear({enter}, {d}), nn.Linear({d}, {n})
        self.f, self.g, self.h = nn.Linear({d}, {d}), nn.Linear({d}, {d}, bias=False), nn.Sequential(nn.Linear({d}, {d}), {r.pick("nn.BatchNorm1d(%d)" % d, "nn.LayerNorm(%d)" % d, activation(r))})
        self.scale, self.shift = nn.Parameter(torch.ones({d})), nn.Parameter(torch.zeros({d}))

    def forward(self, x):
        x = self.inp(x)
{text}        return self.out(x)
"""
    model = Model(code, inputs=["torch.zeros(b, %d)" % enter], batch=(2, 4, 8, 32, 64, 128, 500, 1024), name="statements")
    model.target, model.loss = classes(r, n) if r.chance(0.7) else ("torch.zeros(b, %d)" % n, regression(r))
    return model


def features(r):
    """embeddings beside numbers"""
    d, n, fields = r.pick(8, 16, 32), r.pick(50, 1000, 20000), r.randint(1, 4)
    bag = r.chance(0.4)
    sparse = r.chance(0.15)
    cls = "nn.EmbeddingBag(%d, %d, mode='%s'%s)" % (n, d, r.pick("sum", "mean"), ", sparse=True" if sparse else "") if bag else "nn.Embedding(%d, %d%s)" % (n, d, ", sparse=True" if sparse else "")
    take = "e(ids[:, i * 4:i * 4 + 4])" if bag else "e(ids[:, i])"
    cross = r.pick("h = torch.cat(es + [self.num(x)], dim=1)", "z = torch.stack(es + [self.num(x)], dim=1)\n        h = torch.bmm(z, z.transpose(1, 2)).flatten(1)",
                   "z = torch.stack(es + [self.num(x)], 1)\n        h = torch.cat([z.flatten(1), 0.5 * (z.sum(1).pow(2) - z.pow(2).sum(1))], 1)")
    width = (fields + 1) * d if cross.startswith("h = torch.cat(es") else (fields + 1) ** 2 if "bmm" in cross else (fields + 2) * d
    code = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([{cls} for _ in range({fields})])
        self.num = nn.Linear(13, {d})
        self.top = nn.Sequential(nn.Linear({width}, 64), {activation(r)}, nn.Dropout(0.1), nn.Linear(64, 1))

    def forward(self, ids, x):
        es = [{take} for i, e in enumerate(self.tables)]
        {cross}
        return self.top(h).squeeze(-1)
"""
    return Model(code, inputs=["torch.zeros(b, %d, dtype=torch.long)" % (fields * 4), "torch.zeros(b, 13)"], target="torch.zeros(b)",
                 loss=r.pick("F.binary_cross_entropy_with_logits(out, y)", "F.mse_loss(out, y)", "nn.BCEWithLogitsLoss()(out, y)"), batch=(4, 32, 128, 1000, 4096),
                 name="features", sparse=sparse, half=not sparse, amp=not sparse, double=not sparse)


def encoder(r):
    """autoencoders, with and without noise"""
    d, z = r.pick(784, 256, 100), r.pick(2, 16, 32)
    noise = r.chance(0.6)
    loss = regression(r) if not noise else "F.binary_cross_entropy_with_logits(out[0], x0, reduction='sum') - 0.5 * torch.sum(1 + out[2] - out[1].pow(2) - out[2].exp())" \
        if r.chance(0.5) else "F.mse_loss(out[0], x0) + 0.1 * (-0.5 * (1 + out[2] - out[1] ** 2 - torch.exp(out[2])).sum(1)).mean()"
    body = "mu, logvar = self.mu(h), self.logvar(h)\n        std = torch.exp(0.5 * logvar)\n        z = mu + torch.randn_like(std) * std\n        return self.dec(z), mu, logvar" if noise else "return self.dec(self.mu(h))"
    code = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear({d}, 128), {activation(r)}, nn.Linear(128, 64), {activation(r)})
        self.mu, self.logvar = nn.Linear(64, {z}), nn.Linear(64, {z})
        self.dec = nn.Sequential(nn.Linear({z}, 128), {activation(r)}, nn.Linear(128, {d}))

    def forward(self, x):
        h = self.enc(x)
        {body}
"""
    return Model(code, inputs=["torch.zeros(b, %d)" % d], target="" if noise else "torch.zeros(b, %d)" % d, loss=loss, batch=(8, 32, 128, 100), name="encoder")


def graph(r):
    """messages over edges"""
    d, nodes, edges = r.pick(16, 32, 64), r.pick(50, 500, 2708), r.pick(200, 2000, 10000)
    agg = r.pick("torch.zeros_like(h).index_add(0, dst, h[src])", "torch.zeros_like(h).index_add_(0, dst, h[src])", "torch.zeros_like(h).scatter_add(0, dst[:, None].expand(-1, h.size(1)), h[src])",
                 "torch.zeros(x.size(0), h.size(1), device=x.device, dtype=h.dtype).index_add_(0, dst, h.index_select(0, src))")
    code = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear({d}, {d}) for _ in range({r.randint(1, 3)})])
        self.head = nn.Linear({d}, 7)

    def forward(self, x, edge):
        src, dst = edge[0], edge[1]
        for layer in self.layers:
            h = layer(x)
            x = {function(r).format(x="(h + %s)" % agg)}
        return self.head(x)
"""
    return Model(code, inputs=["torch.zeros(%d, %d)" % (nodes, d), "torch.zeros(2, %d, dtype=torch.long)" % edges], target="torch.zeros(%d, dtype=torch.long)" % nodes,
                 loss=r.pick("F.cross_entropy(out, y)", "F.nll_loss(F.log_softmax(out, dim=1), y)"), batch=(1,), name="graph", amp=True)


def pairs(r):
    """two views of one sample"""
    d = r.pick(32, 64, 128)
    loss = r.pick("F.cosine_embedding_loss(out[0], out[1], torch.ones(out[0].size(0), device='cuda'))", "F.triplet_margin_loss(out[0], out[1], out[1].flip(0))",
                  "F.cross_entropy(out[0] @ out[1].T / 0.1, torch.arange(out[0].size(0), device='cuda'))", "(out[0] - out[1]).pow(2).sum(1).mean()",
                  "F.margin_ranking_loss(out[0].sum(1), out[1].sum(1), torch.ones(out[0].size(0), device='cuda'), margin=1.0)",
                  "2 - 2 * F.cosine_similarity(out[0], out[1].detach(), dim=-1).mean()", "F.kl_div(F.log_softmax(out[0], 1), F.softmax(out[1].detach(), 1), reduction='batchmean')")
    code = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(100, {d}), {r.pick("nn.BatchNorm1d(%d)" % d, "nn.LayerNorm(%d)" % d)}, {activation(r)}, nn.Linear({d}, {d}))

    def forward(self, a, b):
        a, b = self.net(a), self.net(b)
        return {r.pick("a, b", "F.normalize(a, dim=1), F.normalize(b, dim=1)")}
"""
    return Model(code, inputs=["torch.zeros(b, 100)"] * 2, loss=loss, batch=(4, 32, 128, 256), name="pairs")


def maker(r):
    kind = r.weighted(mlp=5, features=1.5, encoder=1, graph=1, pairs=1)
    return {"mlp": mlp, "features": features, "encoder": encoder, "graph": graph, "pairs": pairs}[kind](r)
