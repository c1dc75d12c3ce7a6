"""Forward hooks with always_call=True run when the module fails, too."""
import torch
from torch import nn


class Fails(nn.Module):
    def forward(self, x, fail=False):
        if fail:
            raise ValueError("no")
        return x + 1


def note(name, change=None):
    def hook(module, args, output):
        print(name, len(args), output is None)
        return change

    return hook


module = Fails()
module.register_forward_hook(note("plain"))
module.register_forward_hook(note("always"), always_call=True)
first = module.register_forward_hook(lambda m, a, k, o: print("keywords", sorted(k)), with_kwargs=True, always_call=True)
module.register_forward_hook(note("first"), prepend=True)
print(module(torch.zeros(2)).tolist())
for _ in range(2):
    try:
        module(torch.zeros(2), fail=True)
    except ValueError as error:
        print("raised", error)
    first.remove()
