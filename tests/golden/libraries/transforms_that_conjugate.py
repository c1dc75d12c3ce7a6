"""Inverse transforms of real numbers, which are conjugates of forward ones, and gradients that pass cuts."""
import torch
from torch.fft import fft, hfft, ifft, ihfft, irfft

x = torch.randn(6, 4, 16, device="cuda", requires_grad=True)
w = torch.randn(3, 4, 16, device="cuda", requires_grad=True)
for _ in range(2):
    y = torch.einsum("bni,mni->bmi", ifft(x), fft(w))
    z = fft(y).real
    z.square().mean().backward()
a = ifft(x)
print(a.is_conj(), a.shape)
a.abs().mean().backward()
ifft(x).real.sum().backward()
b = ifft(x, 12, dim=1)
(b * 2).real.mean().backward()
(ifft(w.detach()) + 1).abs()
h = ihfft(x)
print(h.shape, h.is_conj())
k = hfft(fft(w), 20)
k.mean().backward()
print(k.shape, hfft(x.detach()).shape)
ifft(ifft(x)).real.sum().backward()
print(torch.cuda.max_memory_allocated())
v = torch.randn(3, 4, 16, device="cuda", dtype=torch.complex64, requires_grad=True)
for _ in range(2):
    a = v[1].conj()
    torch.view_as_real(a.resolve_conj() * 2).sum().backward()
    b = v[1:].conj()
    torch.view_as_real(b.resolve_conj() * 2).sum().backward()
    c = v[..., ::2].conj()
    c.real.sum().backward()
    e = v[0, 1:].conj().abs().sum()
    e.backward()
    torch.fft.irfft(v[:, 1:].conj(), dim=-1).sum().backward()
    torch.fft.irfft(v[1].conj(), dim=-1).sum().backward()
