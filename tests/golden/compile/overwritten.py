"""What a CUDA graph gave, read when a later call has overwritten it. overwritten.txt is what PyTorch prints."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)).cuda()
model = torch.compile(model, mode="reduce-overhead")
x = torch.randn(32, 64, device="cuda")


def told(name, read):
    try:
        read()
        print(name, "fine")
    except RuntimeError as error:
        print(name, str(error)[:86])


with torch.no_grad():
    first = model(x)
    looked = first.view(-1)
    second = model(x)
    told("view", lambda: first.view(-1))
    told("view of a view", lambda: looked.view(32, 64))
    told("add", lambda: first + 1)
    told("sum of a view", lambda: looked.sum())
    told("address", lambda: first.data_ptr())
    told("detach", lambda: first.detach())
    told("sizes", lambda: (first.shape, first.stride()))
    told("item", lambda: first[0, 0].item())
    told("cat", lambda: torch.cat([x, first]))
    told("foreach", lambda: torch._foreach_add([looked], 1))
    told("like", lambda: torch.zeros_like(first))
    third = model(x)
    told("recorded", lambda: second + 1)
    fourth = model(x)
    told("replayed", lambda: third + 1)
    model(x)
    told("replayed again", lambda: fourth + 1)
    told("given", lambda: model(second))
for step in range(3):
    told(f"gradients kept {step}", lambda: model(x).sum().backward())
for parameter in model.parameters():
    parameter.grad = None
kept = []
for step in range(3):
    torch.compiler.cudagraph_mark_step_begin()
    kept.append(model(x).clone())
    told(f"clones {step}", lambda: kept[-1].sum().backward())
    for parameter in model.parameters():
        parameter.grad = None
told("clones", lambda: kept[0] + kept[1])
