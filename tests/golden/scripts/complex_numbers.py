"""Complex numbers of Python: literals, arithmetic, text; with tensors they make complex ones. Gradients of roots, sines and quotients, and of a softmax called by hand."""
import torch
z = 1j
print(z, 2 + 3j, -1j, 1.5 - .5j, 1e3j, complex(1, 2), (1 + 2j) * (3 - 1j), (1 + 2j) / (3 - 4j), abs(3 + 4j), (1j) ** 2, (-8) ** (1 / 3), z.imag, (1 + 2j).conjugate())
print(1j == complex(0, 1), 3 + 0j == 3, {1j: 2}[1j], isinstance(1j, complex), type(1j).__name__, bool(0j), f"{1j}", 2 ** 1j, complex(1j), -(1 + 2j), 1_0j, hash(2 + 0j) == hash(2))
a = torch.randn(8, 8, device="cuda", requires_grad=True)
b = torch.randn(8, 8, device="cuda", dtype=torch.double, requires_grad=True)
c = torch.randn(8, 8, device="cuda", dtype=torch.cfloat, requires_grad=True)
i = torch.arange(8, device="cuda")
for x in (a, b, c):
    for f in (lambda x: x * 1j, lambda x: 1j * x, lambda x: x + 1j, lambda x: 2j - x, lambda x: x / 2j, lambda x: torch.exp(1j * x), lambda x: x.mul(1j), lambda x: torch.exp(-2j * 3.14 * i / 8) * x):
        y = f(x)
        print(y.dtype)
        (y.abs().sum()).backward()
        del y
m = (i * 1j).real
n = torch.exp(2j * torch.pi * torch.outer(i, i) / 8)
c2 = torch.zeros(4, dtype=torch.cfloat, device="cuda"); c2 *= 1j; c2 += 1 + 1j
print((c2 == 1j).dtype)

c = torch.randn(8, 8, device="cuda", dtype=torch.cfloat, requires_grad=True)
d = torch.randn(8, 16, device="cuda", dtype=torch.cfloat, requires_grad=True)
for x in (c, d[:, ::2]):
    for f in (lambda x: 1j / x, torch.sqrt, torch.sin, torch.cos, torch.reciprocal, lambda x: 1 / (1 - x)):
        y = f(x)
        y.abs().sum().backward(retain_graph=True)
        del y
for dt in (torch.float, torch.half, torch.bfloat16):
    for grad in (torch.randn(4, 64, device="cuda", dtype=dt), torch.randn(64, 4, device="cuda", dtype=dt).t(), torch.randn(4, 1, device="cuda", dtype=dt).expand(4, 64)):
        out = torch.randn(4, 64, device="cuda", dtype=dt).softmax(-1)
        g1 = torch._softmax_backward_data(grad, out, -1, dt)
        g2 = torch._log_softmax_backward_data(grad, out, -1, dt)
        g3 = torch._softmax_backward_data(grad_output=grad, output=out, dim=1, input_dtype=dt)
        g4 = torch._softmax_backward_data(grad, out.t().contiguous().t(), 1, dt)
        h = torch._softmax_backward_data(grad.float(), out.float(), 1, torch.half if dt == torch.half else torch.float)
