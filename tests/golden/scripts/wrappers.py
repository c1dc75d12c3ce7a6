"""Modules that delegate attributes, and the containers of modules and parameters."""

import torch
from torch import nn


class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.steps = 3

    def forward(self, *a, **k):
        return self.module(*a, **k)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


class W2(nn.Module):
    def __init__(self, m):
        super().__init__()
        self._orig_mod = m

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def forward(self, x):
        return self._orig_mod(x)


class W3(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.model = m

    def __getattr__(self, name):
        if name in self._modules or name in self._parameters or name in self._buffers:
            return nn.Module.__getattr__(self, name)
        modules = self.__dict__["_modules"]
        return getattr(modules["model"], name)

    def forward(self, x):
        return self.model(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 5)
        self.register_buffer("b", torch.zeros(3))
        self.width = 5

    def forward(self, x):
        return self.fc(x)

    def helper(self):
        return self.width * 2


for W in (Wrapper, W2, W3):
    w = W(Net()).cuda()
    y = w(torch.randn(2, 4, device="cuda"))
    y.sum().backward()
    print(W.__name__, w.width, w.helper(), w.fc, w.b.shape, hasattr(w, "nope"), w.fc.weight.grad.shape, len(list(w.parameters())))
    try:
        w.nope
    except AttributeError as e:
        print(e)
    print(sorted(w.state_dict()), getattr(w, "zzz", 7))
n = Net()
print(nn.Module.__getattr__(n, "fc"), n.__getattr__("b").shape)
try:
    n.__getattr__("width")
except AttributeError as e:
    print(e)
try:
    n.nothing
except AttributeError as e:
    print(e)
d = nn.ModuleDict({"a": nn.Linear(1, 2), "b": nn.ReLU()})
d.update({"c": nn.Tanh(), "a": nn.Linear(2, 2)})
d.update([("z", nn.Sigmoid())])
print(list(d.keys()), list(d.items())[1], len(d), "c" in d, d.pop("c"), list(d), list(d.values())[0], d["a"])
d.clear()
print(len(d), d)
for bad in (lambda: d["q"], lambda: d.pop("q"), lambda: d.update(3)):
    try:
        bad()
    except (KeyError, TypeError) as e:
        print(type(e).__name__, e)
pl = nn.ParameterList([nn.Parameter(torch.zeros(2)), torch.zeros(3), 5])
pl.append(torch.zeros(4)).extend([torch.zeros(5)])
pl += [torch.zeros(6)]
print(len(pl), pl[-1].shape, pl[1:3][0].shape, type(pl[1]), [type(p).__name__ for p in pl], pl[2], list(dict(pl.named_parameters())))
pl[2] = torch.zeros(9)
print(pl.pop(), len(pl)) if hasattr(pl, "pop") else print("no pop")
print(dir(pl).count("a"))
pd = nn.ParameterDict({"w": torch.zeros(2), "v": nn.Parameter(torch.zeros(3))})
pd["x"] = torch.zeros(4)
print(list(pd), len(pd), "w" in pd, pd.get("q"), pd.get("q", 3), list(pd.keys()), [v.shape for v in pd.values()], [k for k, v in pd.items()])
print(pd.setdefault("y", torch.zeros(7)).shape, pd.pop("w").shape, [k for k in reversed(pd)], list(pd.copy()))
print(pd.popitem()[0], list((pd | {"h": torch.zeros(1)})), list(pd.fromkeys(["a", "b"], 1).items()))
pd |= {"i": torch.zeros(2)}
print(list(pd), pd.x.shape, pd)
pd.clear()
print(len(pd))
l = nn.ModuleList([nn.Linear(1, 2), nn.ReLU()])
print(l.insert(1, nn.Tanh()), l.append(nn.Sigmoid()) is l, l.extend([nn.Mish()]) is l, l[0:2], l.pop(1), l.pop(-1), len(l), l[-1])
l += nn.ModuleList([nn.Tanh()])
m = l + [nn.ReLU()]
del l[0]
l[0] = nn.SiLU()
print(l, m, dir(l).count("0"), nn.ReLU() in l)
for bad in (lambda: l[10], lambda: l.extend(3), lambda: l.pop(9), lambda: nn.Sequential(nn.ReLU())[4], lambda: nn.Sequential(3)):
    try:
        bad()
    except (IndexError, TypeError) as e:
        print(type(e).__name__, e)
s = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
s.extend([nn.Tanh()])
s += nn.Sequential(nn.SiLU())
print(s * 2, s.pop(0), len(s), s.insert(0, nn.Mish()) is s, s[-1], s[1:])
del s[1:3]
print(s)
