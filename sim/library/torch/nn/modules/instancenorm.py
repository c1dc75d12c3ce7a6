import torch.nn.functional as F
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.lazy import _LazyNorm


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    pass


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    pass


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    pass


class _InstanceNorm(_NormBase):

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        self._check_input_dim(input)
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               0.0 if self.momentum is None else self.momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    ranks, expected = (2, 3), "2D or 3D"


class InstanceNorm2d(_InstanceNorm):
    ranks, expected = (3, 4), "3D or 4D"


class InstanceNorm3d(_InstanceNorm):
    ranks, expected = (4, 5), "4D or 5D"
