"""Rules of torch and Python that whole programs of strangers showed, each with the least that shows it."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrize

device = torch.accelerator.current_accelerator()

# A cast that autocast keeps is made with its gradient, under no_grad too: the second use is recorded.
layer = nn.Conv2d(6, 32, 7, padding=3).to(device)
x = torch.rand(2, 6, 32, 32, device=device)
with torch.autocast("cuda", torch.float16):
    with torch.no_grad():
        first = layer(x)
    second = layer(x)
second.float().mean().backward()
del first, second

# roll takes a dense copy first.
windows = torch.rand(10, 48, 784, device=device).transpose(1, 2).view(10, 28, 28, 48)
rolled = torch.roll(windows, shifts=(-3, -3), dims=(1, 2))
flat = torch.roll(windows, 5)
del rolled, flat

# A slice counted from the end is a view even where it is the whole.
y = torch.rand(16, 48, 7, device=device, requires_grad=True)
(y * 2)[:, -48:, :].square().mean().backward()
(y * 2)[:, 0:48].square().mean().backward()

# extend takes what an iterator gives one by one.
blocks = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(3)).to(device)
parts = list(torch.rand(2, 16, 20, 20, device=device).chunk(2, 1))
parts.extend(block(parts[-1]) + parts[-1] for block in blocks)
parts += (part + parts[-1] for part in parts[:2])
torch.cat(parts, 1).sum().backward()
del parts

# A recurrent layer holds its weights once more: they die last to first.
torch.backends.cudnn.enabled = False
rnn = nn.LSTM(20, 24, 2).to(device)
rnn(torch.rand(5, 3, 20, device=device))[0].sum().backward()
del rnn
torch.backends.cudnn.enabled = True


# Registering a parametrization computes the tensor once.
class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)


square = nn.Linear(16, 16).to(device)
parametrize.register_parametrization(square, "weight", Symmetric())
parametrize.register_parametrization(square, "weight", nn.Tanh())
square(torch.rand(4, 16, device=device)).sum().backward()


# A module's own __call__, and Module's as a value; NumPy's words for dim and keepdim.
class Doubled(nn.Linear):
    def __call__(self, x):
        return super().__call__(x) * 2


doubled = Doubled(16, 16).to(device)
out = torch.utils.checkpoint.checkpoint(square.__call__, doubled(torch.rand(4, 16, device=device)), use_reentrant=False)
(out / out.sum(axis=1, keepdims=True)).mean().backward()

# A product of matrices of two types fails when its output is there.
try:
    F.linear(torch.rand(64, 32, device=device), torch.rand(48, 32, device=device).half())
except RuntimeError as e:
    print("failed")

# Another default type: of tensors made without one, of Python's floats, of what integers become.
scaler = torch.GradScaler("cuda", enabled=False)
for dtype in (torch.bfloat16, torch.float64, torch.float16):
    torch.set_default_dtype(dtype)
    model = nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 5)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    steps = torch.arange(0, 32, 2, device=device)
    angles = 1.0 / 10000 ** (steps / 32)
    table = torch.cat([angles.sin(), torch.linspace(0, 1, 16, device=device)])
    mask = torch.full((8, 32), 0.5, device=device) + torch.tensor([1.0] * 32, device=device) * torch.eye(32, device=device)[:8]
    loss = model(table * mask).pow(2).mean() + steps.float().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(loss.dtype, torch.get_default_dtype(), torch.Tensor([1.0, 2.0]).dtype)
torch.set_default_dtype(torch.float32)
