"""A DCGAN: generator and discriminator in one step."""

import torch.nn.functional as F
from torch import nn

from workloads import images, workload


class GAN(nn.Module):
    """a DCGAN pair for 64x64 images; golden.py has a loop of its own for it (two optimizers)"""

    def __init__(self, z, width):
        super().__init__()
        self.z = z
        g, c = [], z
        for i, w in enumerate((width * 8, width * 4, width * 2, width)):
            g += [nn.ConvTranspose2d(c, w, 4, 1 if i == 0 else 2, 0 if i == 0 else 1, bias=False), nn.BatchNorm2d(w), nn.ReLU(True)]
            c = w
        self.generator = nn.Sequential(*g, nn.ConvTranspose2d(c, 3, 4, 2, 1, bias=False), nn.Tanh())
        d, c = [], 3
        for i, w in enumerate((width, width * 2, width * 4, width * 8)):
            d += [nn.Conv2d(c, w, 4, 2, 1, bias=False)] + ([nn.BatchNorm2d(w)] if i else []) + [nn.LeakyReLU(0.2, inplace=True)]
            c = w
        self.discriminator = nn.Sequential(*d, nn.Conv2d(c, 1, 4, 1, 0, bias=False))


@workload("gan", images, lambda out, y: F.binary_cross_entropy_with_logits(out, y), image=64, z=100, width=64)
def gan(z, width):
    return GAN(z, width)
