# How often tensors were written in place, as PyTorch counts it: in its errors and as _version.
import torch
from torch import nn


def told(name, f):
    try:
        r = f()
        print(name, 'goes', r if r is not None else '')
    except RuntimeError as e:
        print(name, str(e).splitlines()[0][:330])


def leaf(*s):
    return torch.ones(*s, requires_grad=True)


def opt_step():
    w = nn.Linear(3, 3)
    h = nn.Linear(3, 3)
    o = torch.optim.SGD(list(w.parameters()) + list(h.parameters()), lr=0.1)
    x = torch.ones(2, 3)
    l1 = h(w(x)).sum()
    l2 = h(w(x)).pow(2).sum()
    l1.backward()
    o.step()
    l2.backward()


def opt_adam():
    h = nn.Linear(3, 3)
    w = nn.Linear(3, 3)
    o = torch.optim.Adam(h.parameters(), lr=0.1)
    x = torch.ones(2, 3)
    for i in range(3):
        l1 = h(w(x)).sum()
        l2 = h(w(x)).pow(2).sum()
        l1.backward()
        o.step()
    l2.backward()


def opt_adamw_for_loop():
    h = nn.Linear(3, 3)
    w = nn.Linear(3, 3)
    o = torch.optim.AdamW(h.parameters(), lr=0.1, foreach=False)
    x = torch.ones(2, 3)
    for i in range(2):
        l1 = h(w(x)).sum()
        l2 = h(w(x)).pow(2).sum()
        l1.backward()
        o.step()
    l2.backward()


def bn_twice():
    b = nn.BatchNorm1d(3)
    x = leaf(4, 3)
    b.eval()
    y = b(x)
    b.train()
    b(x)
    y.sum().backward()


def gan():
    D = nn.Linear(3, 1)
    G = nn.Linear(3, 3)
    oD = torch.optim.SGD(D.parameters(), lr=0.1, momentum=0.9)
    fake = G(torch.ones(2, 3))
    lg = D(fake).mean()
    D(fake.detach()).mean().backward()
    oD.step()
    lg.backward()


def clip():
    w = leaf(3)
    y = w.exp()
    y.clamp_(0, 1)
    y.sum().backward()


def masked():
    y = leaf(3).sigmoid()
    y.masked_fill_(torch.ones(3, dtype=torch.bool), 0)
    y.sum().backward()


def add_many():
    y = leaf(3).exp()
    for _ in range(5):
        y += 1
    z = y.tanh()
    y *= 2
    y[1:].zero_()
    z.sum().backward()
    y.sum().backward()


def saved_later():
    y = leaf(3) * 1
    y.add_(1).mul_(2)
    z = y * y
    y.sub_(1)
    y.div_(3)
    z.sum().backward()


def versions():
    y = torch.zeros(4)
    a = [y._version]
    y.add_(1)
    a.append(y._version)
    y[0] = 1
    a.append(y._version)
    y[1:3].mul_(2)
    a.append(y._version)
    y.copy_(torch.ones(4))
    a.append(y._version)
    y.data.zero_()
    a.append(y._version)
    y.detach().zero_()
    a.append(y._version)
    torch.add(y, 1, out=y)
    a.append(y._version)
    y.fill_(2)
    a.append(y._version)
    y.normal_()
    a.append(y._version)
    nn.init.zeros_(y)
    a.append(y._version)
    y.index_fill_(0, torch.tensor([0]), 1)
    a.append(y._version)
    y.view(2, 2).t_()
    a.append(y._version)
    y.unsqueeze_(0)
    a.append(y._version)
    y.requires_grad_()
    a.append(y._version)
    with torch.no_grad():
        y.add_(1)
    a.append(y._version)
    y.grad = torch.ones_like(y)
    y.grad.zero_()
    a.append((y._version, y.grad._version))
    return a


def params():
    m = nn.Linear(3, 3)
    a = [m.weight._version, m.bias._version]
    nn.init.xavier_uniform_(m.weight)
    a.append(m.weight._version)
    m.half()
    a.append(m.weight._version)
    m.load_state_dict(m.state_dict())
    a.append(m.weight._version)
    e = nn.Embedding(4, 3, padding_idx=0)
    a.append(e.weight._version)
    c = nn.Conv2d(3, 3, 3)
    a.append((c.weight._version, c.bias._version))
    n = nn.LayerNorm(3)
    a.append((n.weight._version, n.bias._version))
    b = nn.BatchNorm1d(3)
    b(torch.ones(4, 3))
    a.append((b.running_mean._version, b.num_batches_tracked._version))
    r = nn.LSTM(3, 3)
    a.append(r.weight_ih_l0._version)
    t = nn.MultiheadAttention(4, 2)
    a.append((t.in_proj_weight._version, t.out_proj.bias._version))
    return a


def steps():
    out = []
    for O, kw in ((torch.optim.SGD, {}), (torch.optim.SGD, dict(momentum=0.9, weight_decay=0.1)), (torch.optim.Adam, {}),
            (torch.optim.AdamW, {}), (torch.optim.AdamW, dict(foreach=False)), (torch.optim.AdamW, dict(fused=True)),
            (torch.optim.RMSprop, {}), (torch.optim.Adagrad, {}), (torch.optim.SGD, dict(foreach=False,
            weight_decay=0.1)), (torch.optim.Adam, dict(amsgrad=True)), (torch.optim.NAdam, {}), (torch.optim.Adadelta,
            {}), (torch.optim.Adamax, {}), (torch.optim.RAdam, {})):
        p = leaf(3)
        o = O([p], lr=0.1, **kw)
        for _ in range(2):
            p.sum().backward()
            o.step()
            o.zero_grad()
        out.append(p._version)
    return out


def clip_norm():
    p = leaf(3)
    (p * 2).sum().backward()
    torch.nn.utils.clip_grad_norm_([p], 1.0)
    return p.grad._version


def accumulate():
    p = leaf(3)
    (p * 2).sum().backward()
    g = p.grad
    (p * 2).sum().backward()
    return (g._version, p.grad is g)


def fused_steps_are_not_noticed():
    x, w = (leaf(3), leaf(3))
    o = torch.optim.AdamW([w], fused=True)
    first, second = ((x * w).sum(), (x * w).sum())
    first.backward()
    o.step()
    second.backward()
    return w._version


def norms():
    made = (nn.GroupNorm(1, 3), nn.RMSNorm(3), nn.InstanceNorm1d(3, affine=True), nn.BatchNorm2d(3), nn.Bilinear(2, 2, 2))
    return ([p._version for m in made for p in m.parameters()], made[3].running_var.tolist())


def lists():
    a = [torch.ones(2) for _ in range(2)]
    out = []
    torch._foreach_add_(a, 1)
    out.append(a[0]._version)
    torch._foreach_zero_(a)
    out.append(a[0]._version)
    torch._foreach_copy_(a, [torch.ones(2)] * 2)
    out.append(a[0]._version)
    return out


for f in (opt_step, opt_adam, opt_adamw_for_loop, bn_twice, gan, clip, masked, add_many, saved_later, versions, params,
        steps, clip_norm, accumulate, fused_steps_are_not_noticed, norms, lists):
    told(f.__name__, f)
