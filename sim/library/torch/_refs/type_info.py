import torch


class _Info:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


def finfo(dtype=None):
    if dtype is None:
        dtype = torch.get_default_dtype()
    if dtype == torch.float16:
        return _Info(bits=16, eps=2.0 ** -10, max=65504.0, min=-65504.0, tiny=2.0 ** -14, smallest_normal=2.0 ** -14,
                     resolution=1e-3)
    if dtype == torch.bfloat16:
        return _Info(bits=16, eps=2.0 ** -7, max=3.3895313892515355e38, min=-3.3895313892515355e38, tiny=2.0 ** -126,
                     smallest_normal=2.0 ** -126, resolution=1e-2)
    if dtype == torch.float64:
        return _Info(
            bits=64,
            eps=2.0**-52,
            max=1.7976931348623157e308,
            min=-1.7976931348623157e308,
            tiny=2.0**-1022,
            smallest_normal=2.0**-1022,
            resolution=1e-15,
        )
    return _Info(bits=32, eps=2.0 ** -23, max=3.4028234663852886e38, min=-3.4028234663852886e38, tiny=2.0 ** -126,
                 smallest_normal=2.0 ** -126, resolution=1e-6)


def iinfo(dtype):
    bits = 8 * dtype.itemsize
    if dtype == torch.uint8:
        return _Info(bits=8, min=0, max=255)
    return _Info(bits=bits, min=-(2 ** (bits - 1) - 1) - 1, max=2 ** (bits - 1) - 1)
