import torch.nn.functional as F
from torch.nn.modules.module import Module


class _Pad(Module):
    dims, mode, value = 1, "constant", 0.0

    def __init__(self, padding, value=None):
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)
        if value is not None:
            self.value = value

    def forward(self, input):
        if self.mode == "constant":
            return F.pad(input, self.padding, "constant", self.value)
        return F.pad(input, self.padding, self.mode)


class ConstantPad1d(_Pad):
    pass


class ConstantPad2d(_Pad):
    dims = 2


class ConstantPad3d(_Pad):
    dims = 3


class ZeroPad1d(_Pad):
    pass


class ZeroPad2d(_Pad):
    dims = 2


class ZeroPad3d(_Pad):
    dims = 3


class ReflectionPad1d(_Pad):
    mode = "reflect"


class ReflectionPad2d(_Pad):
    dims, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    dims, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    mode = "replicate"


class ReplicationPad2d(_Pad):
    dims, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    dims, mode = 3, "replicate"


class CircularPad1d(_Pad):
    mode = "circular"


class CircularPad2d(_Pad):
    dims, mode = 2, "circular"


class CircularPad3d(_Pad):
    dims, mode = 3, "circular"
