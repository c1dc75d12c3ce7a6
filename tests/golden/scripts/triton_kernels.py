"""Kernels of Triton: what they write to is handed to them; timing of configurations asks for a buffer."""
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=inside) * factor, mask=inside)


@triton.autotune(configs=[triton.Config({"BLOCK": 256}, num_warps=4), triton.Config({"BLOCK": 1024}, num_warps=8)], key=["n"])
@triton.jit
def tuned_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=inside) * 2, mask=inside)


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n), mask=at < n)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        y = torch.empty_like(x)
        grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)
        scale_kernel[grid](x, y, x.numel(), factor, BLOCK=1024)
        ctx.factor = factor
        return y

    @staticmethod
    def backward(ctx, grad):
        out = torch.empty_like(grad)
        scale_kernel[(triton.cdiv(grad.numel(), 1024),)](grad.contiguous(), out, grad.numel(), ctx.factor, BLOCK=1024)
        return out, None


layer = torch.nn.Linear(512, 512, device="cuda")
# What a kernel is first compiled for stays alive: tensors that stay anyway.
first, second = torch.randn(4096, device="cuda"), torch.empty(4096, device="cuda")
scale_kernel[(4,)](first, second, 4096, 3.0, BLOCK=1024)
tuned_kernel[(4,)](first, second, 4096)
add_kernel[(16,)](first, second, 4096, BLOCK=256)
for step in range(3):
    x = torch.randn(64 * (step + 1), 512, device="cuda")
    y = Scaled.apply(layer(x), 3.0)
    z = torch.empty_like(y)
    tuned_kernel[lambda meta: (triton.cdiv(y.numel(), meta["BLOCK"]),)](y, z, y.numel())
    tuned_kernel[lambda meta: (triton.cdiv(y.numel(), meta["BLOCK"]),)](y, z, y.numel())
    add_kernel[(triton.cdiv(y.numel(), 256),)](y, z, y.numel(), BLOCK=triton.next_power_of_2(200))
    y.sum().backward()
    layer.zero_grad()
