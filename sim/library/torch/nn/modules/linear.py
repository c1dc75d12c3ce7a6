import torch
import torch.nn.functional as F
from torch.nn import Parameter
from torch.nn.modules.lazy import _materialize
from torch.nn.modules.module import Module


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
            self.__class__ = Linear
        return Linear.forward(self, input)


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(torch.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty((out_features,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        torch._C.reset_weight_and_bias(self.weight, self.bias)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(torch.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty((out_features,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / self.weight.size(1) ** 0.5
        torch._C.fill_random(self.weight, "uniform", -bound, bound)
        if self.bias is not None:
            torch._C.fill_random(self.bias, "uniform", -bound, bound)

    def forward(self, input1, input2):
        return F.bilinear(input1, input2, self.weight, self.bias)


class Identity(Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class NonDynamicallyQuantizableLinear(Linear):
    pass
