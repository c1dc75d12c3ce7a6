"""The mark that conj() puts on a tensor: who copies it out, for how long; and attention by autocorrelation, which lives of it."""
import torch
import torch.nn as nn
import torch.nn.functional as F

for n in (64, 63):
    q = torch.randn(4, 8, n, device='cuda', requires_grad=True)
    k = torch.randn(4, 8, n, device='cuda', requires_grad=True)
    for rep in range(2):
        a = torch.fft.rfft(q, dim=-1)
        b = torch.fft.rfft(k, dim=-1)
        c = a * torch.conj(b)
        d = torch.fft.irfft(c, n=n, dim=-1)
        d.backward(torch.ones(4, 8, n, device='cuda'))
        y = a.detach()
        for f in (lambda t: t.real, lambda t: t + y, lambda t: t @ y.transpose(-1, -2), lambda t: y @ t.transpose(-1, -2),
                  lambda t: torch.cat([t, y], -1), lambda t: torch.cat([y, t], -1), lambda t: t.clone(), lambda t: t.resolve_conj(),
                  lambda t: t.transpose(0, 1).contiguous(), lambda t: torch.einsum("bij,bkj->bik", y, t), lambda t: torch.einsum("bij,bkj->bik", t, y),
                  lambda t: t / y, lambda t: -t, lambda t: torch.exp(t), lambda t: t * 2, lambda t: torch.fft.fft(t), lambda t: t - t):
            r = f(y.conj())
            z = (y * 1).requires_grad_(True)
            w = f((z * 1).conj())
            w.sum().backward() if not w.is_complex() else w.backward(torch.ones_like(w))
            del w, z, r


class Lags(nn.Module):
    """Attends to the lags at which queries and keys agree most."""

    def __init__(self, width, heads, kept):
        super().__init__()
        self.project = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.out, self.heads, self.kept = nn.Linear(width, width), heads, kept

    def forward(self, x):
        batch, steps, width = x.shape
        q, k, v = (p(x).view(batch, steps, self.heads, -1).permute(0, 2, 3, 1).contiguous() for p in self.project)
        spectrum = torch.fft.rfft(q) * torch.conj(torch.fft.rfft(k))
        agreement = torch.fft.irfft(spectrum, n=steps).mean(dim=(1, 2))
        best = agreement.topk(self.kept, dim=-1).values.softmax(-1)
        mixed = sum(v.roll(-lag, -1) * best[:, lag, None, None, None] for lag in range(self.kept))
        return self.out(mixed.permute(0, 3, 1, 2).reshape(batch, steps, width))


model = Lags(32, heads=4, kept=3).cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    loss = F.mse_loss(model(torch.randn(8, 96, 32).cuda()), torch.randn(8, 96, 32).cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
