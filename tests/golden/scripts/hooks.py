"""Hooks of modules, of their gradients and of what is saved for backward; norms over dimensions of one element."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint

dev = "cuda"
acts, grads = {}, {}


def save_grad(name):
    def hook(m, gi, go):
        grads[name] = go[0].detach()
    return hook


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.l1 = nn.Linear(d, 4 * d)
        self.l2 = nn.Linear(4 * d, d)
        self.n = nn.LayerNorm(d)

    def forward(self, x):
        return x + self.l2(F.gelu(self.l1(self.n(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(1000, 128)
        self.blocks = nn.ModuleList([Block(128) for _ in range(3)])
        self.head = nn.Linear(128, 1000)

    def forward(self, t):
        x = self.emb(t)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


net = Net().to(dev)
hs = []
for n, m in net.named_modules():
    if isinstance(m, (nn.Linear, Block)):
        hs.append(m.register_full_backward_hook(save_grad(n)))
for b in net.blocks:
    hs.append(b.register_full_backward_pre_hook(lambda m, go: (go[0] * 0.5,)))
hs.append(net.head.register_full_backward_hook(lambda m, gi, go: (gi[0].clamp(-1, 1),)))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for i in range(2):
    t = torch.randint(0, 1000, (4, 33), device=dev)
    out = net(t[:, :-1])
    loss = F.cross_entropy(out.flatten(0, 1), t[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
for h in hs:
    h.remove()


def hk(m, args, kwargs, out):
    return out * kwargs.get("scale", 1.0)


class S(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 16, 3, padding=1)
        self.b = nn.BatchNorm2d(16)
        self.f = nn.Linear(16, 10)

    def forward(self, x, scale=1.0, mask=None):
        h = F.relu(self.b(self.c(x)))
        if mask is not None:
            h = h * mask
        return self.f(h.mean((2, 3)))


s = S().to(dev)
s.register_forward_hook(hk, with_kwargs=True)
s.register_forward_pre_hook(lambda m, a, k: (a, {**k, "mask": torch.ones(1, device=dev)}), with_kwargs=True)
gr = []
s.c.register_full_backward_hook(lambda m, gi, go: gr.append(go[0].abs().mean()))
s.register_full_backward_hook(lambda m, gi, go: gr.append((gi, go[0].norm())))
s.b.register_full_backward_pre_hook(lambda m, go: gr.append(go[0].std()))
opt = torch.optim.SGD(s.parameters(), lr=0.1, momentum=0.9)
for i in range(2):
    x = torch.randn(8, 3, 32, 32, device=dev, requires_grad=i == 1)
    loss = F.cross_entropy(s(x, scale=2.0), torch.randint(0, 10, (8,), device=dev))
    loss.backward()
    opt.step()
    opt.zero_grad()
    gr.clear()


class A(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.q = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)
        self.e = nn.Embedding(50, d)

    def forward(self, x, mask, ids):
        q, k, v = self.q(x + self.e(ids)).chunk(3, -1)
        a = (q @ k.transpose(1, 2) + mask).softmax(-1)
        return self.o(a @ v), a, a.argmax(-1)


class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = A()
        self.b = A()
        self.h = nn.Linear(96, 10)

    def forward(self, x, mask, ids):
        x, w, _ = self.a(x, mask, ids)
        y, w2, j = self.b(F.relu(x), mask, ids)
        return self.h(y.mean(1)), w


n = N().to(dev)
log = []
n.a.register_full_backward_hook(lambda m, gi, go: log.append((gi, go[0].mean())))
n.b.register_full_backward_hook(lambda m, gi, go: log.append([g for g in go if g is not None]))
n.a.register_full_backward_pre_hook(lambda m, go: tuple(g * 2 if g is not None else None for g in go))
n.h.register_full_backward_hook(lambda m, gi, go: (gi[0] / 2,))
n.q = None
h = n.register_full_backward_hook(lambda m, gi, go: log.append(go))
opt = torch.optim.SGD(n.parameters(), lr=.1)
for i in range(3):
    x = torch.randn(4, 20, 96, device=dev, requires_grad=i == 2)
    m = torch.zeros(20, 20, device=dev)
    ids = torch.randint(0, 50, (4, 20), device=dev)
    out, w = n(x, m, ids)
    loss = F.cross_entropy(out, torch.randint(0, 10, (4,), device=dev))
    if i == 1:
        loss = loss + w.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.clear()
h.remove()
# in-place after a hooked module, and what is computed from activations (Grad-CAM)
cnn = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)).to(dev)
store = {}
cnn[3].register_forward_hook(lambda m, i, o: store.__setitem__("a", o))
cnn[3].register_full_backward_hook(lambda m, gi, go: store.__setitem__("g", go[0]))
cnn.eval()
x = torch.randn(2, 3, 32, 32, device=dev)
s = cnn(x)
s[:, 1].sum().backward()
w = store["g"].mean((2, 3), keepdim=True)
cam = F.relu((w * store["a"]).sum(1, keepdim=True))
cam = F.interpolate(cam, size=x.shape[2:], mode="bilinear", align_corners=False)
cam = (cam - cam.min()) / (cam.max() - cam.min() + 1e-7)


w = nn.Parameter(torch.randn(40, 64, device=dev))
s = nn.Parameter(torch.randn(1, device=dev))


def pack(t):
    if isinstance(t, nn.Parameter):
        return t
    return t.to("cpu")


def unpack(t):
    return t.to("cuda")


with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    sc = w.abs().max() / 127
    q = w / sc
    l = q.sum()
l.backward()
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    l = (w / s).sum()
l.backward()


for dt in (torch.float16, torch.float32, torch.bfloat16):
    for shape, dims in (((1,), 0), ((1,), None), ((8, 1), 1), ((8, 1, 4), (1,)), ((8, 1, 1), (1, 2)), ((8, 1, 4), (1, 2)), ((), None), ((6, 1), 0), ((1, 6), None)):
        for o in (2, 1, 3, 0, float("inf")):
            x = torch.randn(shape, device=dev, dtype=torch.float32).to(dt)
            for kw in ({}, {"dtype":
                torch.float32}):
                y = torch.linalg.vector_norm(x, o, dims, **kw)
                z = torch.linalg.vector_norm(x, o, dims, keepdim=True, **kw)


# A function of one's own in a checkpoint under autocast: its weight comes back as a leaf, so the cast is kept.


class LinearFn(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x.matmul(weight.t())

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad.matmul(weight), grad.t().mm(x)


weight = nn.Parameter(torch.randn(96, 96, device=dev))
stack = nn.Sequential(nn.Linear(64, 96), nn.GELU(), nn.Linear(96, 96)).to(dev)
x = torch.randn(24, 64, device=dev)
with torch.autocast("cuda", torch.bfloat16):
    loss = torch.utils.checkpoint.checkpoint(lambda t: LinearFn.apply(stack(t), weight).relu(), x, use_reentrant=False).sum()
loss.backward()
del stack, loss
