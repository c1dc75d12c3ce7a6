import torch


@torch.library.custom_op("mine::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


@scaled.register_fake
def _(x, factor):
    return torch.empty_like(x)


def keep(ctx, inputs, output):
    ctx.factor = inputs[1]


def back(ctx, grad):
    return grad * ctx.factor, None


scaled.register_autograd(back, setup_context=keep)

library = torch.library.Library("mine_too", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x + x, "CompositeImplicitAutograd")

layer = torch.nn.Linear(64, 64, device="cuda")
x = torch.randn(128, 64, device="cuda")
for _ in range(2):
    y = torch.ops.mine_too.twice(torch.ops.mine.scaled(layer(x), 0.5))
    y.sum().backward()
with torch.no_grad():
    z = scaled(layer(x), 2.0)
