"""Copies as classes say of themselves: __reduce__, __getstate__, __setstate__, __getnewargs__; of modules on the device too."""
import collections
import copy

import torch
from torch import nn


class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)
        self.big = [1, 2]

    def __getstate__(self):
        state = dict(self.__dict__)
        state["big"] = None
        return state


class B:
    def __init__(self, n):
        self.n = n

    def __reduce__(self):
        return (B, (self.n + 1,))


class C:
    def __init__(self):
        self.x, self.y = 1, 2

    def __getstate__(self):
        return {"x": self.x}

    def __setstate__(self, s):
        self.__dict__.update(s)
        self.y = -1


class D(dict):
    def __init__(self, k):
        super().__init__()
        self.k = k


class E:
    __slots__ = ("a", "b")


class F:
    def __reduce_ex__(self, protocol):
        return (dict, ((("a", protocol),),))


class G:
    def __new__(cls, n):
        self = super().__new__(cls)
        self.n = n
        return self

    def __getnewargs__(self):
        return (self.n * 2,)


a = A()
print(copy.deepcopy(a).big, copy.deepcopy(B(1)).n, copy.copy(B(1)).n)
c = copy.deepcopy(C())
print(c.x, c.y, copy.copy(C()).y)
d = D(3)
d["q"] = [1]
e = copy.deepcopy(d)
e["q"].append(2)
print(d, e, e.k, type(e).__name__)
x = E()
x.a = [1]
y = copy.deepcopy(x)
y.a.append(2)
print(x.a, y.a, hasattr(y, "b"))
print(copy.deepcopy(F()), copy.copy(F()), copy.deepcopy(G(2)).n)


class Wrapped(nn.Module):
    """as torchmetrics: a method of its own is wrapped, and wrapped again for a copy"""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(300))
        self.seen = [torch.zeros(200, device="cuda")]
        self.update = self._wrap(self.update)

    def _wrap(self, function):
        def wrapped(*args):
            self.calls = getattr(self, "calls", 0) + 1
            return function(*args)
        return wrapped

    def update(self, n):
        self.total = self.total + n

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k not in ("update", "seen")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.update = self._wrap(self.update)


class Base(nn.Module):
    def __setstate__(self, state):
        super().__setstate__(state)
        self.set = True


class Out(collections.OrderedDict):
    def __init__(self, a=None):
        super().__init__()
        self["a"] = a
        self.kept = 5

    def __reduce__(self):
        call, _args, *rest = super().__reduce__()
        return call, (9,), *rest


class S(list):
    def __reduce_ex__(self, protocol):
        print("reduced", protocol)
        return super().__reduce_ex__(protocol)


o = Wrapped().cuda()
o.update(3)
p = copy.deepcopy(o)
p.update(4)
print(hasattr(p, "seen"), p.total is o.total, o.calls, p.calls)
b = copy.deepcopy(Base())
print(b.set)
q = copy.deepcopy(Out([1]))
print(q, q.kept, type(q).__name__, copy.copy(Out(2)))
print(copy.deepcopy(S([1, [2]])), C().__reduce_ex__(4)[2], hasattr(C(), "__setstate__"), hasattr(a, "__reduce__"))
n = copy.deepcopy([o, o])
print(n[0] is n[1], n[0] is o)
capability = torch.backends.cpu.get_cpu_capability()
print(capability in ("DEFAULT", "AVX2", "AVX512"))
