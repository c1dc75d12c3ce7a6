"""A network that learns in the space of frequencies: complex weights, products of a part of the spectrum, a loss relative to its target."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Spectrum(nn.Module):
    """Mixes channels in the lowest frequencies of both signs; the others are dropped."""

    def __init__(self, channels, rows, columns):
        super().__init__()
        self.rows, self.columns = rows, columns
        for name in ("positive", "negative"):
            weight = torch.randn(channels, channels, rows, columns, dtype=torch.complex64) / channels ** 2
            self.register_parameter(name, nn.Parameter(weight))

    def forward(self, x):
        height, width = x.shape[-2:]
        given = torch.fft.rfft2(x)
        kept = torch.zeros(*x.shape[:2], height, width // 2 + 1, dtype=torch.cfloat, device=x.device)
        for weight, rows in ((self.positive, slice(None, self.rows)), (self.negative, slice(-self.rows, None))):
            kept[:, :, rows, : self.columns] = torch.einsum("bchw,cdhw->bdhw", given[:, :, rows, : self.columns], weight)
        return torch.fft.irfft2(kept, s=(height, width))


class Layer(nn.Module):
    def __init__(self, channels, last=False):
        super().__init__()
        self.spectrum, self.skip = Spectrum(channels, 12, 12), nn.Conv2d(channels, channels, 1)
        self.norm, self.last = nn.InstanceNorm2d(channels), last

    def forward(self, x):
        y = self.norm(self.spectrum(self.norm(x))) + self.skip(x)
        return y if self.last else F.gelu(y)


class Operator(nn.Module):
    def __init__(self, channels=20, depth=4):
        super().__init__()
        self.lift = nn.Linear(3, channels)
        self.layers = nn.Sequential(*[Layer(channels, last=i == depth - 1) for i in range(depth)])
        self.read = nn.Sequential(nn.Conv2d(channels, 4 * channels, 1), nn.GELU(), nn.Conv2d(4 * channels, 1, 1))

    def forward(self, x):
        batch, height, width, _ = x.shape
        rows = torch.linspace(0, 1, height, device=x.device).view(1, -1, 1, 1).expand(batch, -1, width, -1)
        columns = torch.linspace(0, 1, width).to(x.device).reshape(1, 1, width, 1).repeat(batch, height, 1, 1)
        x = self.lift(torch.cat((x, rows, columns), dim=-1)).permute(0, 3, 1, 2)
        return self.read(self.layers(x)).squeeze(1)


def relative(out, target):
    out, target = out.flatten(1), target.flatten(1)
    return (torch.norm(out - target, 2, 1) / torch.norm(target, 2, 1)).sum()


model = Operator().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
for step in range(3):
    x, y = torch.randn(4, 64, 64, 1).cuda(), torch.randn(4, 64, 64).cuda()
    optimizer.zero_grad()
    loss = relative(model(x), y)
    loss.backward()
    optimizer.step()
