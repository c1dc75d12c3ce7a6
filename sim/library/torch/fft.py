import torch
import torch._C as _C


def _resized(x, dims, sizes):
    """the input cut, then padded with zeros, to the lengths of the transform"""
    pad = [0] * (2 * x.dim())
    needs = False
    for dim, size in zip(dims, sizes):
        if size == -1 or size is None:
            continue
        if x.size(dim) > size:
            x = x.narrow(dim, 0, size)
        elif x.size(dim) < size:
            needs = True
            pad[2 * (x.dim() - 1 - dim % x.dim()) + 1] = size - x.size(dim)
    return torch.constant_pad_nd(x, pad) if needs else x


def _as_float(x):
    if x.is_floating_point() or x.is_complex():
        return x
    return x.to(torch.float32)


def _as_complex(x):
    if x.is_complex():
        return x
    if x.dtype == torch.bfloat16:
        raise RuntimeError("Unsupported dtype BFloat16")
    if x.dtype == torch.float16:
        _C.refuse(
            "torch.fft of float16 is not modelled: half precision has no complex type here", "make it float32 first"
        )
    return x.to(torch.complex128 if x.dtype == torch.float64 else torch.complex64)


def _dims_of(x, s, dim):
    if dim is None:
        dims = list(range(x.dim() - len(s), x.dim())) if s is not None else list(range(x.dim()))
    else:
        dims = [dim] if not isinstance(dim, (tuple, list)) else list(dim)
    dims = [d % x.dim() for d in dims]
    sizes = [-1] * len(dims) if s is None else list(s)
    return dims, sizes


def fft(input, n=None, dim=-1, norm=None, *, out=None):
    input = _resized(_as_float(input), [dim], [n])
    return torch._fft_c2c(input, [dim]) if input.is_complex() else torch._fft_r2c(input, [dim], False)


def ifft(input, n=None, dim=-1, norm=None, *, out=None):
    """of real numbers: the conjugate of their fft (at::native::fft_r2c, not forward)"""
    transformed = fft(input, n, dim)
    return transformed if input.is_complex() else transformed.conj()


def rfft(input, n=None, dim=-1, norm=None, *, out=None):
    if input.is_complex():
        raise RuntimeError("rfft expects a real input tensor, but got " + str(input.dtype))
    return torch._fft_r2c(_resized(_as_float(input), [dim], [n]), [dim], True)


def irfft(input, n=None, dim=-1, norm=None, *, out=None):
    input = _as_complex(input)
    length = 2 * (input.size(dim) - 1) if n is None else n
    return torch._fft_c2r(_resized(input, [dim], [length // 2 + 1]), [dim], length)


def fftn(input, s=None, dim=None, norm=None, *, out=None):
    dims, sizes = _dims_of(input, s, dim)
    return torch._fft_c2c(_resized(_as_complex(input), dims, sizes), dims)


def ifftn(input, s=None, dim=None, norm=None, *, out=None):
    return fftn(input, s, dim)


def fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    return fftn(input, s, dim)


def ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    return fftn(input, s, dim)


def rfftn(input, s=None, dim=None, norm=None, *, out=None):
    dims, sizes = _dims_of(input, s, dim)
    return torch._fft_r2c(_resized(_as_float(input), dims, sizes), dims, True)


def rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    return rfftn(input, s, dim)


def irfftn(input, s=None, dim=None, norm=None, *, out=None):
    dims, sizes = _dims_of(input, s, dim)
    length = 2 * (input.size(dims[-1]) - 1) if sizes[-1] == -1 else sizes[-1]
    sizes[-1] = length // 2 + 1
    return torch._fft_c2r(_resized(_as_complex(input), dims, sizes), dims, length)


def irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    return irfftn(input, s, dim)


def hfft(input, n=None, dim=-1, norm=None, *, out=None):
    """irfft of the conjugate (at::native::fft_c2r, forward)"""
    input = _as_complex(input)
    length = 2 * (input.size(dim) - 1) if n is None else n
    resized = input if n is None else _resized(input, [dim], [length // 2 + 1])
    return torch._fft_c2r(resized.conj(), [dim], length)


def ihfft(input, n=None, dim=-1, norm=None, *, out=None):
    if input.is_complex():
        raise RuntimeError("ihfft expects a real input tensor, but got " + str(input.dtype))
    return rfft(input, n, dim).conj()


def _shift(input, dim, forward):
    dims = list(range(input.dim())) if dim is None else ([dim] if not isinstance(dim, (tuple, list)) else list(dim))
    shifts = [input.size(d) // 2 if forward else (input.size(d) + 1) // 2 for d in dims]
    return torch.roll(input, shifts, dims)


def fftshift(input, dim=None):
    return _shift(input, dim, True)


def ifftshift(input, dim=None):
    return _shift(input, dim, False)


def fftfreq(n, d=1.0, *, dtype=None, device=None, requires_grad=False):
    return torch.empty(n, dtype=dtype, device=device, requires_grad=requires_grad)


def rfftfreq(n, d=1.0, *, dtype=None, device=None, requires_grad=False):
    return torch.empty(n // 2 + 1, dtype=dtype, device=device, requires_grad=requires_grad)
