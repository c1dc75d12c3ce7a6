# Tensors saved for backward and written over since: PyTorch's error with its text; and what may be written.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def told(name, function):
    try:
        function()
        print(name, "goes")
    except RuntimeError as error:
        print(name, str(error).splitlines()[0])


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


def exp_changed():
    y = leaf(4).exp()
    y += 1
    y.sum().backward()


def product_changed():
    a, b = leaf(3, 2), torch.ones(3, 2)
    y = a * b
    b.mul_(2)
    y.sum().backward()


def product_not_needed():
    a, b = torch.ones(3, 2), leaf(3, 2)
    y = a * b
    b.data.mul_(2)
    y.sum().backward()


def sum_changed():
    y = leaf(4) + 1
    y += 1
    y.sum().backward()


def written_slice():
    y = leaf(4, 4).sigmoid()
    y[0] = 0
    y.sum().backward()


def view_written():
    x = torch.ones(6)
    y = leaf(6) * x
    x.view(2, 3)[1].zero_()
    y.sum().backward()


def detached_shares():
    y = leaf(5).tanh()
    y.detach().zero_()
    y.sum().backward()


def data_does_not_count():
    y = leaf(5).tanh()
    y.data.zero_()
    y.sum().backward()


def relu_in_place():
    y = nn.ReLU(inplace=True)(leaf(4) * 2)
    z = y.sigmoid()
    nn.functional.relu_(y)
    z.sum().backward()


def running_state():
    h, w = torch.zeros(2, 3), leaf(3, 3)
    total = 0
    for _ in range(2):
        out = h @ w
        total = total + out.sum()
        h.copy_(out.detach())
    total.backward()


def leaf_in_place():
    leaf(3).add_(1)


def view_of_leaf_in_place():
    leaf(3)[0] = 1


def backward_twice():
    y = leaf(3).exp().sum()
    y.backward()
    y.backward()


def max_pool_input():
    x = leaf(1, 1, 4, 4) * 1
    y = nn.functional.max_pool2d(x, 2)
    x.zero_()
    y.sum().backward()


def softmax_output():
    y = leaf(2, 3).softmax(-1)
    y.div_(2)
    y.sum().backward()


def cat_input():
    a = leaf(2) * 1
    y = torch.cat([a, a])
    a.zero_()
    y.sum().backward()


class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad


class Looks(Keeps):
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * x


def written_after(function):
    x = leaf(3) * 1
    y = function(x)
    x.add_(1)
    y.sum().backward()


def custom_does_not_look():
    written_after(Keeps.apply)


def custom_looks():
    written_after(Looks.apply)


def add_one(x):
    x += x.exp()
    return x


def checkpoint_writes_argument():
    checkpoint(add_one, leaf(3) * 1, use_reentrant=False).sum().backward()


for function in (exp_changed, product_changed, product_not_needed, sum_changed, written_slice, view_written, detached_shares,
                 data_does_not_count, relu_in_place, running_state, leaf_in_place,
                 view_of_leaf_in_place, backward_twice, max_pool_input, softmax_output, cat_input,
                 custom_does_not_look, custom_looks, checkpoint_writes_argument):
    told(function.__name__, function)
