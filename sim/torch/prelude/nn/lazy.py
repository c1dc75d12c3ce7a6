# module: torch.nn
# defines: LazyLinear LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d
import torch
from torch.nn import (BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d,
                      ConvTranspose3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, Linear)

# The first input says how large the parameters are: until then they have no elements, and move with .to() as others do.


def _materialize(tensor, shape):
    tensor.data = torch.empty(shape, dtype=tensor.dtype, device=tensor.device)


class LazyLinear(Linear):
    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, bias, device=device, dtype=dtype)
        self.out_features = out_features

    def forward(self, input):
        if self.in_features == 0:
            self.in_features = input.shape[-1]
            _materialize(self.weight, (self.out_features, self.in_features))
            if self.bias is not None:
                _materialize(self.bias, (self.out_features,))
        return super().forward(input)


class _LazyConv:
    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        groups = kwargs.get("groups", 1)
        super().__init__(groups, groups, kernel_size, *args, **kwargs)
        self._lazy = True
        self.out_channels = out_channels
        for tensor in (self.weight, self.bias):
            if tensor is not None:
                _materialize(tensor, (0,))

    def forward(self, input, *args):
        if self._lazy:
            self._lazy = False
            spatial = len(self.kernel_size)
            self.in_channels = input.shape[input.dim() - spatial - 1]
            pair = (self.in_channels, self.out_channels) if self._turned else (self.out_channels, self.in_channels)
            _materialize(self.weight, (pair[0], pair[1] // self.groups) + tuple(self.kernel_size))
            if self.bias is not None:
                _materialize(self.bias, (self.out_channels,))
        return super().forward(input, *args)


class _LazyConvForward(_LazyConv):
    _turned = False


class _LazyConvTransposed(_LazyConv):
    _turned = True


class LazyConv1d(_LazyConvForward, Conv1d):
    pass


class LazyConv2d(_LazyConvForward, Conv2d):
    pass


class LazyConv3d(_LazyConvForward, Conv3d):
    pass


class LazyConvTranspose1d(_LazyConvTransposed, ConvTranspose1d):
    pass


class LazyConvTranspose2d(_LazyConvTransposed, ConvTranspose2d):
    pass


class LazyConvTranspose3d(_LazyConvTransposed, ConvTranspose3d):
    pass


class _LazyNorm:
    def __init__(self, *args, **kwargs):
        super().__init__(0, *args, **kwargs)
        self._lazy = True

    def forward(self, input):
        if self._lazy:
            self._lazy = False
            self.num_features = input.shape[1]
            for name in ("weight", "bias", "running_mean", "running_var"):
                tensor = getattr(self, name, None)
                if tensor is not None:
                    _materialize(tensor, (self.num_features,))
        return super().forward(input)


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    pass


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    pass


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    pass


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    pass


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    pass


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    pass
