"""Functions of one's own with all that their context can do, and small rules that programs of language and speech showed."""

import copy
from timeit import default_timer

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

device = "cuda"


class Clamped(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (y > 0)


class Quantized(Function):
    @staticmethod
    def forward(ctx, x, bits):
        n = 2 ** bits - 1
        mask = ((x >= 0) & (x <= 1)).to(x.dtype)
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)
        return torch.round(x.clamp(0, 1) * n) / n, mask

    @staticmethod
    def backward(ctx, g, _):
        (mask,) = ctx.saved_tensors
        return g * mask, None


class Split(Function):
    """one of its results may get no gradient: it comes as None"""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.shape = x.shape
        return x[:, :3].clone(), x[:, 3:].clone()

    @staticmethod
    def backward(ctx, a, b):
        out = torch.zeros(ctx.shape, device=device)
        if a is not None:
            out[:, :3] = a
        if b is not None:
            out[:, 3:] = b
        return out


class Cube(Function):
    @staticmethod
    def forward(x, scale):
        square = x * x
        return square * x * scale, square

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, scale = inputs
        _, square = output
        ctx.mark_non_differentiable(square)
        ctx.save_for_backward(square)
        ctx.scale = scale

    @staticmethod
    def backward(ctx, g, _):
        (square,) = ctx.saved_tensors
        return 3 * ctx.scale * square * g, None


class Product(Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w, None)
        return x.matmul(w.t())

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, g):
        x, w, bias = ctx.saved_tensors
        assert bias is None
        return g.matmul(w), g.t().mm(x)


class Precise(Function):
    @staticmethod
    @torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @torch.cuda.amp.custom_bwd
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.exp()


start = default_timer()
w = nn.Parameter(torch.randn(40, 24, device=device))
for step in range(2):
    x = torch.randn(10, 24, device=device, requires_grad=True)
    y = Clamped.apply(x * 1.5)
    q, mask = Quantized.apply(y, 4)
    left, right = Split.apply(q)
    cubed, square = Cube.apply(right, 0.5)
    with torch.autocast("cuda", torch.bfloat16):
        z = Precise.apply(Product.apply(torch.cat([left, cubed], 1), w))
    (z.float().mean() + (mask.sum() + square.sum()).detach()).backward()
    Split.apply(x * 2)[0].sum().backward()
    del x, y, q, mask, left, right, cubed, square, z

# What einsum is given as *args dies last to first.
index = torch.randint(0, 5, (2, 12), device=device)
gates = torch.rand(2, 12, device=device, requires_grad=True)
combine = torch.einsum("kt,ktn,ktc->tnc", gates, F.one_hot(index, 5).float(), F.one_hot(index, 40).float())
combine.square().mean().backward()
del combine

# A mask that autocast casts lives as long as the call; similarities of all pairs expand the second first.
mask = torch.zeros(2, 1, 20, 20, device=device)
q, k, v = (torch.randn(2, 4, 20, 16, device=device, requires_grad=True) for _ in range(3))
with torch.autocast("cuda", torch.bfloat16):
    F.scaled_dot_product_attention(q, k, v, attn_mask=mask).float().sum().backward()
a, b = (torch.randn(5, 48, device=device, requires_grad=True) for _ in range(2))
(F.cosine_similarity((a * 2).unsqueeze(1), (b * 2).unsqueeze(0), dim=-1) / 0.05).logsumexp(1).mean().backward()
del q, k, v, mask, a, b

# Old names and odd indices.
hidden = w.data.new(2, 3, 24).zero_(), w.new(w.size()).normal_(), w.new([1.0, 2.0])
channels = torch.IntTensor([8])
table = torch.randn(6, 24, device=device, requires_grad=True)
parts = table[:, :channels[0]].tanh() * table[:, channels[0] * 2:].sigmoid()
(parts.sum() + table[range(3), [1, 2, 5]].sum() + table[[[0, 1], [2, 3]]].mean()).backward()
del hidden, parts

# States that fit in part, and one whose numbers go to the device.
net = nn.Sequential(nn.Linear(24, 32), nn.BatchNorm1d(32), nn.Linear(32, 4)).to(device)
optimizer = torch.optim.NAdam(net.parameters())
for step in range(2):
    net(torch.randn(8, 24, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
saved, kept = copy.deepcopy(optimizer.state_dict()), {k: v.cpu() for k, v in net.state_dict().items()}
print(net.load_state_dict(kept))
del kept["2.bias"]
kept["3.weight"] = torch.zeros(4)
print(net.load_state_dict(kept, strict=False))
try:
    net.load_state_dict({"0.weight": torch.zeros(3, 3)})
except RuntimeError as e:
    print(e)
net.load_state_dict({k: torch.zeros_like(v, device=device) for k, v in net.state_dict().items()}, assign=True)
optimizer = torch.optim.NAdam(net.parameters())
optimizer.load_state_dict(saved)
del saved
net(torch.randn(8, 24, device=device)).square().mean().backward()
optimizer.step()

# What a function saved inside a checkpointed region is computed again once.
region = checkpoint(lambda t: Product.apply(Cube.apply(t, 0.5)[0], w), torch.randn(10, 24, device=device, requires_grad=True), use_reentrant=False)
region.sum().backward()

# A dimension of 1 that squeeze took is put back with the stride that unsqueeze gives it.
gate = nn.Linear(80, 1).to(device)
steps = torch.randn(15, 3, 80, device=device, requires_grad=True)
gates = torch.stack([gate(frame).squeeze(1) for frame in steps.unbind(0)]).transpose(0, 1).contiguous()
nn.BCEWithLogitsLoss()(gates.view(-1, 1), torch.zeros(45, 1, device=device)).backward()
