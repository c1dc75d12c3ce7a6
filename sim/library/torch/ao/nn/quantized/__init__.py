"""operators as modules, before anything is quantized: those of floating-point tensors"""
import torch
from torch.nn import Identity, Module


class FloatFunctional(Module):
    def __init__(self):
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x):
        raise RuntimeError("FloatFunctional is not intended to use the forward. Please use the corresponding operation")

    def _seen(self, r):
        return self.activation_post_process(r)

    def add(self, x, y):
        return self._seen(torch.add(x, y))

    def add_scalar(self, x, y):
        return torch.add(x, y)

    def mul(self, x, y):
        return self._seen(torch.mul(x, y))

    def mul_scalar(self, x, y):
        return torch.mul(x, y)

    def cat(self, x, dim=0):
        return self._seen(torch.cat(x, dim=dim))

    def add_relu(self, x, y):
        return self._seen(torch.nn.functional.relu(torch.add(x, y)))

    def matmul(self, x, y):
        return self._seen(torch.matmul(x, y))
