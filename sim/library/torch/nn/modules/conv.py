import torch
import torch.nn.functional as F
from torch.nn import Parameter
from torch.nn.modules.lazy import _become, _materialize
from torch.nn.modules.module import Module


def _ntuple(value, n):
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * n


class _ConvNd(Module):
    dims = 0  # of a class of one's own: as many as its kernel has

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        bias,
        padding_mode,
        device=None,
        dtype=None,
    ):
        super().__init__()
        n = self.dims or len(kernel_size)
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = _ntuple(kernel_size, n), _ntuple(stride, n), _ntuple(dilation, n)
        self.padding = padding if isinstance(padding, str) else _ntuple(padding, n)
        self.output_padding, self.padding_mode, self.transposed = _ntuple(output_padding, n), padding_mode, transposed
        if transposed:
            shape = (in_channels, out_channels // groups, *self.kernel_size)
        else:
            shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(torch.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        torch._C.reset_weight_and_bias(self.weight, self.bias)

    def _padded(self, input):
        """the input with the border that a padding mode other than zeros makes, and the padding left to do"""
        if self.padding_mode == "zeros":
            return input, self.padding
        border = []
        for i in reversed(range(self.dims)):
            if self.padding == "same":
                total = self.dilation[i] * (self.kernel_size[i] - 1)
                border += [total // 2, total - total // 2]
            elif self.padding == "valid":
                border += [0, 0]
            else:
                border += [self.padding[i], self.padding[i]]
        return F.pad(input, border, mode=self.padding_mode), (0,) * self.dims


class _Conv(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            False,
            0,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    dims = 1

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode == "zeros":
            return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        return F.conv1d(*self._padded(input)[:1], weight, bias, self.stride, 0, self.dilation, self.groups)


class Conv2d(_Conv):
    dims = 2

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode == "zeros":
            return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        return F.conv2d(*self._padded(input)[:1], weight, bias, self.stride, 0, self.dilation, self.groups)


class Conv3d(_Conv):
    dims = 3

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode == "zeros":
            return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        return F.conv3d(*self._padded(input)[:1], weight, bias, self.stride, 0, self.dilation, self.groups)


class _ConvTranspose(_ConvNd):

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            True,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _extra(self, input, output_size):
        if output_size is None:
            return self.output_padding
        extra = []
        for i in range(self.dims):
            least = ((input.size(2 + i) - 1) * self.stride[i] - 2 * self.padding[i]
                     + self.dilation[i] * (self.kernel_size[i] - 1) + 1)
            extra.append(output_size[len(output_size) - self.dims + i] - least)
        return tuple(extra)


class ConvTranspose1d(_ConvTranspose):
    dims = 1

    def forward(self, input, output_size=None):
        return F.conv_transpose1d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._extra(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose2d(_ConvTranspose):
    dims = 2

    def forward(self, input, output_size=None):
        return F.conv_transpose2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._extra(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose3d(_ConvTranspose):
    dims = 3

    def forward(self, input, output_size=None):
        return F.conv_transpose3d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._extra(input, output_size),
            self.groups,
            self.dilation,
        )


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
            _become(self, _LazyConv)
            return self.forward(input, *args)
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
