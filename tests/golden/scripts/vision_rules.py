"""Rules that programs for images and generative models showed, each with the least that shows it."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn, get_ema_multi_avg_fn
from torch.utils.checkpoint import checkpoint

d = "cuda"

# A gradient summed to no dimensions is no view: the next one is added in place.
log_variance = nn.Parameter(torch.zeros((), device=d))
scale = nn.Parameter(torch.ones(1, device=d))
x = torch.randn(8, 16, device=d, requires_grad=True)
for _ in range(2):
    (x / log_variance.exp() + log_variance).pow(2).mean().backward()
    (x * scale + scale.exp()).sum().backward()
    (x * log_variance + x * log_variance.exp() + log_variance * 3).sum().backward()

# A power's result is saved even where only the base wants a gradient.
weights = torch.rand(3, device=d)
levels = torch.stack([x.pow(2).mean(), x.abs().mean(), x.exp().mean()])
torch.prod(levels.relu() ** weights).backward()
(x.abs() ** torch.full((16,), 2.5, device=d)).sum().backward()
(torch.full((8, 16), 2.0, device=d) ** nn.Parameter(torch.ones(16, device=d))).sum().backward()
y = x.abs() + 1
y.pow_(weights.repeat(6)[:16])
y.sum().backward()
del levels, y

# stack joins as cat does, channels last too.
image = torch.randn(2, 3, 8, 8, device=d).to(memory_format=torch.channels_last)
for dim in range(-1, 5):
    both = torch.stack([image, image.flip(3)], dim)
    print(both.shape, both.stride())
    flat = both.flatten(0, 1) * 2
mixed = torch.stack([image, image.contiguous()], 1).flatten(0, 1) + 1
leaf = image.clone().requires_grad_()
torch.stack(list(leaf.unbind(1)), 1).sum().backward()
volume = torch.randn(2, 3, 4, 8, 8, device=d).to(memory_format=torch.channels_last_3d)
print(leaf.grad.stride(), torch.stack([volume, volume], 2).stride())
del both, flat, mixed, leaf, volume


# What a checkpoint packed holds on to the gradients of leaves until its node dies.
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.l1, self.n2, self.l2 = nn.LayerNorm(96), nn.Linear(96, 96), nn.LayerNorm(96), nn.Linear(96, 96)
        self.gate = nn.Parameter(torch.ones(96))

    def forward(self, x):
        x = x + self.l1(self.n1(x)) * self.gate
        return x + self.l2(self.n2(x))


def train(checkpointed):
    net = nn.ModuleList([Block(), Block()]).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        x = torch.randn(4, 7, 96, device=d)
        for block in net:
            x = checkpoint(block, x, use_reentrant=False) if checkpointed else block(x)
        loss = x.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


train(False)
train(True)

# Averages of buffers: those of integers apart.
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)).cuda()
for average in (AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True),
                AveragedModel(model, avg_fn=get_ema_avg_fn(0.99), use_buffers=True),
                AveragedModel(model, avg_fn=lambda a, b, n: 0.9 * a + 0.1 * b)):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(4, 3, 16, 16, device=d)).sum().backward()
        optimizer.step()
        average.update_parameters(model)
    average.module.eval()
    with torch.no_grad():
        average(torch.randn(4, 3, 16, 16, device=d))

# Tensors of several types come to an optimizer in the order of a hash table.
for kinds in ((torch.float32, torch.float16), (torch.float32, torch.bfloat16, torch.float64)):
    parameters = [nn.Parameter(torch.randn(100 * (i + 1) + 10 * j, device=d, dtype=kind)) for j in range(2) for i, kind in enumerate(kinds)]
    optimizer = torch.optim.AdamW(parameters, amsgrad=True)
    for _ in range(2):
        optimizer.zero_grad()
        sum((p * p).sum().float() for p in parameters).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

# cuDNN computes CTC where targets are int32 on the host and no input is shorter; else they are copied as int64.
steps, batch, classes = 20, 3, 15
scores = torch.randn(steps, batch, classes, device=d, requires_grad=True)
text = torch.randint(1, 15, (12,), dtype=torch.int32)
whole = (steps,) * batch
for reduction in ("sum", "mean", "none"):
    for zero_infinity in (False, True):
        loss = F.ctc_loss(F.log_softmax(scores, 2), text, whole, (4, 5, 3), reduction=reduction, zero_infinity=zero_infinity)
        loss.sum().backward()
        del loss
for targets, lengths, blank in ((text, (20, 19, 20), 0), (text, whole, 14), (text.cuda(), whole, 0),
                                (torch.randint(1, 15, (batch, 5), dtype=torch.int32), whole, 0)):
    loss = F.ctc_loss(F.log_softmax(scores, 2), targets, lengths, (4, 5, 3), blank=blank)
    loss.backward()
    del loss

try:
    torch.optim.Adam([scores], betas=(0, 0.99))
except ValueError as error:
    print(error)


# A plain dict's parameters come in alphabetical order; tensors become parameters.
class Tables(nn.Module):
    def __init__(self):
        super().__init__()
        self.named = nn.ParameterDict({"zeta": torch.randn(5000), "alpha": nn.Parameter(torch.randn(100000)), "mid": nn.Parameter(torch.randn(30000))})
        self.listed = nn.ParameterList([torch.randn(7, 9) for _ in range(3)])


tables = Tables().cuda()
sum(p.sum() for p in tables.parameters()).backward()
