# Tensors without dimensions where a number is asked for; operators that chance decides by one number.
import torch
from torch.overrides import TorchFunctionMode

torch.manual_seed(3)
a, b = torch.tensor(0.5), torch.tensor(3)
x = torch.zeros(4, 4)
print(torch.empty(2).uniform_(a, torch.tensor(1.0)).tolist(), x.clone().normal_(a, torch.tensor(1.0))[0].tolist())
print(torch.bernoulli(x, p=0.3).tolist(), torch.bernoulli(x, 0.7).sum().item(), x.bernoulli(torch.tensor(0.2)).sum().item())
print(torch.nn.functional.dropout(torch.ones(6), a).tolist())
grid = torch.tensor([[1, 4, 4], [2, 4, 8]])
print(torch.repeat_interleave(grid[:, 1] * grid[:, 2], grid[:, 0]).tolist(), grid[:, 2].repeat_interleave(grid[:, 1]).tolist())


class Watch(TorchFunctionMode):
    """what torch is asked, while initial values are left out"""

    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.names.append(func.__name__)
        return kwargs["tensor"] if getattr(func, "__module__", None) == "torch.nn.init" else func(*args, **kwargs)


watch = Watch()
with watch:
    made = torch.zeros(3) + 1
    layer = torch.nn.Linear(2, 3)
after = torch.ones(2)
print(watch.names[:2], [name for name in watch.names if name.endswith("uniform_")], made.tolist())
