"""Gradients of complex numbers: what is conjugated is copied for the call that takes it, or turned by cuBLAS itself."""
import torch


def numbers(*sizes, is_complex=True, turned=False, requires_grad=True):
    if turned:
        sizes = (*sizes[:-2], sizes[-1], sizes[-2])
    x = torch.empty(*sizes, dtype=torch.cfloat if is_complex else torch.float32, device="cuda")
    if turned:
        x = x.transpose(-1, -2)
    return x.requires_grad_(requires_grad)


both = ((True, True), (True, False), (False, True))
for lead in ((), (3,)):
    for left_turned, right_turned, gradient_turned in ((False, False, False), (False, True, True), (True, False, False), (True, True, True)):
        for left_wanted, right_wanted in both:
            for n, k, m in ((10, 20, 30), (1, 20, 30), (10, 1, 30), (10, 20, 1)):
                a = numbers(*lead, n, k, turned=left_turned, requires_grad=left_wanted)
                b = numbers(*lead, k, m, turned=right_turned, requires_grad=right_wanted)
                y = torch.bmm(a, b) if lead else torch.mm(a, b)
                y.backward(numbers(*lead, n, m, turned=gradient_turned, requires_grad=False))
                del y

for op in (lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a / b):
    for left_complex, right_complex in both:
        for left_wanted, right_wanted in both:
            for left, right in (((40, 50), (40, 50)), ((40, 50), (50,)), ((40, 1), (40, 50))):
                a = numbers(*left, is_complex=left_complex, requires_grad=left_wanted)
                b = numbers(*right, is_complex=right_complex, requires_grad=right_wanted)
                y = op(a, b)
                y.backward(numbers(40, 50, requires_grad=False))
                del y

for f in (torch.exp, torch.log, torch.neg, lambda x: x * 2, lambda x: x / 3, lambda x: 1 - x, lambda x: x + 1):
    a = numbers(40, 50)
    y = f(a)
    y.backward(numbers(40, 50, requires_grad=False))
    del y

for is_complex in (True, False):
    a, b = numbers(40, 50), numbers(40, 50, is_complex=is_complex)
    y = (a * 1).mul_(b)
    y.backward(numbers(40, 50, requires_grad=False))
    y = (b * 1).div_(b) if is_complex else (a * 1).div_(b)
    y.backward(numbers(40, 50, requires_grad=False))
