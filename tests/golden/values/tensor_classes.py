import torch
from torch import nn


class Tagged(torch.Tensor):
    def __new__(cls, data, tag="none"):
        made = torch.Tensor._make_subclass(cls, data, False)
        made.tag = tag
        return made

    def doubled(self):
        return self * 2


p = Tagged(torch.ones(2, 3), "five")
print(type(p).__name__, p.tag, tuple(p.shape), type(p + 1).__name__, type(p.doubled()).__name__, isinstance(p, torch.Tensor))
print(type(torch.Tensor.__new__(torch.Tensor)).__name__, type(p.sum(0)).__name__, [type(x).__name__ for x in p.split(1)])


class Told(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((func.__name__, len(types)))
        return super().__torch_function__(func, types, args, kwargs or {})


class Deeper(Told):
    pass


q = torch.ones(2, requires_grad=True).as_subclass(Told)
d = torch.ones(2).as_subclass(Deeper)
r = torch.add(q, 1)
print(type(r).__name__, type(q * 2).__name__, type(torch.stack([q, q])).__name__)
print(type(torch.add(q, d)).__name__, type(torch.add(d, torch.ones(2))).__name__, type(torch.ones(2).as_subclass(torch.Tensor)).__name__)
print(Told.calls)
with torch._C.DisableTorchFunctionSubclass():
    print(type(q + 1).__name__)


class Scaled:
    """no tensor at all"""

    def __init__(self, by):
        self.by = by

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is not torch.mul:
            return NotImplemented
        plain = [a.by if isinstance(a, cls) else a for a in args]
        return func(*plain, **(kwargs or {}))


print(torch.mul(torch.ones(2), Scaled(3)).tolist())
try:
    torch.add(torch.ones(2), Scaled(3))
except TypeError:
    print("no")


class Weight(nn.Parameter):
    def __new__(cls, data, bits=8):
        made = torch.Tensor._make_subclass(cls, data, True)
        made.bits = bits
        return made


class Named(nn.Parameter):
    def label(self):
        return "named " + str(self.dim())


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = Weight(torch.ones(3, 3), 4)


layer = Layer()
print([(n, type(w).__name__, w.bits, w.requires_grad) for n, w in layer.named_parameters()])
loss = (torch.ones(2, 3) @ layer.weight).sum()
loss.backward()
print(tuple(layer.weight.grad.shape))
named = Named(torch.ones(2))
print(named.label(), named.requires_grad, isinstance(named, nn.Parameter), type(nn.Parameter.__new__(nn.Parameter, torch.ones(1))).__name__)
