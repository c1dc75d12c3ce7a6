# Modules that reach their tables and attributes in every way Python has; layers of one row; products whose factors are both copied; recurrent
# layers in backward under autocast.
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F


class Scaled:
    """a descriptor: what is set is kept doubled"""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name)

    def __set__(self, instance, value):
        setattr(instance, self.name, value * 2)


class Tower(nn.Module):
    width = Scaled()

    def __init__(self, **options):
        super().__init__()
        self.__dict__.update(options)
        self.width = self.base
        for i in range(self.depth):
            self._modules[f"layer{i}"] = nn.Linear(self.width, self.width)
        self._parameters["scale"] = nn.Parameter(torch.ones(self.width))
        self._buffers["shift"] = torch.zeros(self.width)
        object.__setattr__(self, "teacher", nn.Linear(self.width, self.width, device="cuda"))
        vars(self)["calls"] = 0

    @functools.cached_property
    def mask(self):
        return torch.ones(self.width, device="cuda")

    def __call__(self, x):
        self.calls += 1
        return super().__call__(x) * self.mask

    def forward(self, x):
        for name, layer in self._modules.items():
            x = F.relu(layer(x)) if name != "layer0" else layer(x)
        with torch.no_grad():
            target = self.teacher(x)
        return x * self.scale + self.shift - target


model = Tower(base=32, depth=3).cuda()
print(len(list(model.parameters())), [name for name, _ in model.named_modules()], model.width)
model._modules["layer1"] = nn.Identity()
del model._modules["layer2"]
handle = model.register_forward_hook(lambda module, given, out: out.clone())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    optimizer.zero_grad()
    model(torch.zeros(8, 64, device="cuda")).pow(2).mean().backward()
    optimizer.step()
    model._forward_hooks.clear()
model._buffers["shift"] = torch.zeros(64, device="cuda")
del model.mask
print(model.calls, "mask" in vars(model))

row = torch.zeros(128, device="cuda", requires_grad=True)
for step in range(2):
    F.linear(row[::2], model.layer0.weight, model.layer0.bias).sum().backward()
    model.layer0(row[:64]).sum().backward()
    torch.matmul(row[:64], model.layer0.weight).sum().backward()

left = torch.zeros(2, 4, 16, device="cuda")[:, :, ::2]
for columns in (12, 2):
    right = torch.zeros(2, 8, columns, device="cuda")[:, :, ::2]
    batched, single = torch.bmm(left, right), torch.mm(left[0], right[0])
    added = torch.addmm(torch.zeros(columns // 2, device="cuda"), left[0], right[0])
matrix, vector = torch.zeros(32, 64, device="cuda", requires_grad=True), torch.zeros(64, device="cuda", requires_grad=True)
(matrix @ vector).sum().backward()
torch.mv(matrix, vector[:1].expand(64)).pow(2).sum().backward()
skipping = matrix.detach().t()[::2] @ torch.zeros(32, device="cuda")
F.linear(torch.zeros(128, device="cuda", requires_grad=True)[::2], torch.zeros(32, 64, device="cuda", requires_grad=True)).sum().backward()

torch.backends.cudnn.enabled = False
for layer in (nn.LSTM(16, 32, 2, batch_first=True), nn.GRU(16, 32, bidirectional=True), nn.RNN(16, 32)):
    layer = layer.cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y, state = layer(torch.zeros(4, 8, 16, device="cuda"))
        y.float().pow(2).mean().backward()
    layer.zero_grad()
