import math
import torch
import torch._C as _C

# Gamma variates of the host, one at a time, from its generator. Source: at::native::sample_gamma
# (Distributions.h), whose constants are single precision in double arithmetic.
_THIRD, _FACTOR = 0.3333333432674408, 0.03310000151395798


def is_known(tensor):
    """whether the numbers of a tensor of the host are"""
    return tensor.numel() <= 4096 and _C.knows_numbers(tensor)


def _uniform():
    return torch.rand((), dtype=torch.float64).item()


def variate(alpha):
    """by the rejection method of Marsaglia and Tsang (2000)"""
    scale = 1.0
    if alpha < 1.0:
        if alpha == 0.0:
            return 0.0
        scale *= (1 - _uniform()) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - _THIRD
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = torch.randn((), dtype=torch.float64).item()
        y = 1.0 + c * x
        while y <= 0:
            x = torch.randn((), dtype=torch.float64).item()
            y = 1.0 + c * x
        v = y * y * y
        u = 1 - _uniform()
        xx = x * x
        if u < 1.0 - _FACTOR * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v
