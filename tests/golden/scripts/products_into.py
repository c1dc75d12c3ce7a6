"""Products that are written into a tensor that is there, as Newton-Schulz steps of optimizers do."""
import torch

device = "cuda"


def orthogonal(x, steps=3):
    x = x / x.norm().clamp(min=1e-7)
    a = torch.empty((x.size(0), x.size(0)), dtype=x.dtype, device=x.device)
    b, c = torch.empty_like(a), torch.empty_like(x)
    for _ in range(steps):
        torch.addmm(a, x, x.mT, beta=0.0, alpha=1.0, out=a)
        torch.addmm(a, a, a, beta=-4.775, alpha=2.0315, out=b)
        torch.addmm(x, b, x, beta=3.4445, alpha=1.0, out=c)
        x, c = c, x
    return x


def orthogonal_of_many(x, steps=2):
    a = torch.empty((x.size(0), x.size(1), x.size(1)), dtype=x.dtype, device=x.device)
    b, c = torch.empty_like(a), torch.empty_like(x)
    for _ in range(steps):
        torch.baddbmm(a, x, x.mT, beta=0.0, alpha=1.0, out=a)
        torch.baddbmm(a, a, a, beta=-4.775, alpha=2.0315, out=b)
        torch.baddbmm(x, b, x, beta=3.4445, alpha=1.0, out=c)
        x, c = c, x
    return x


with torch.no_grad():
    kept = [orthogonal(torch.randn(96, 200, device=device).bfloat16())]
    kept.append(orthogonal(torch.randn(65, 33, device=device)))
    kept.append(orthogonal_of_many(torch.randn(4, 48, 72, device=device).bfloat16()))
    first, second = torch.randn(70, 50, device=device), torch.randn(50, 90, device=device)
    out = torch.empty(70, 90, device=device)
    torch.mm(first, second, out=out)
    torch.mm(first, second, out=torch.empty(90, 70, device=device).t())
    batches = torch.empty(3, 70, 90, device=device)
    torch.bmm(first.expand(3, 70, 50), second.expand(3, 50, 90), out=batches)
    row = torch.randn(90, device=device)
    torch.addmm(row, first, second, out=out)
    torch.addmm(out, first, second, beta=0.5, out=out)
    kept.append(torch.zeros(1000, device=device))
print([tuple(each.shape) for each in kept], out.shape, batches.shape)
weight = torch.randn(50, 90, device=device, requires_grad=True)
try:
    torch.mm(first, weight, out=out)
except RuntimeError as error:
    print(error)
