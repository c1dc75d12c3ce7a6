import torch
import torch._C as _C
import torch.nn.functional as F
from torch.nn import Parameter
from torch.nn.modules._functions import SyncBatchNorm as sync_batch_norm
from torch.nn.modules.lazy import _LazyNorm
from torch.nn.modules.module import Module


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    pass


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    pass


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    pass


class _NormBase(Module):

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = Parameter(torch.empty(num_features, device=device, dtype=dtype))
            self.bias = Parameter(torch.empty(num_features, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        if track_running_stats:
            self.register_buffer("running_mean", torch.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", torch.ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", torch.zeros((), dtype=torch.long, device=device))
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)
        self.reset_parameters()

    def reset_running_stats(self):
        if self.track_running_stats:
            _C.fill_constant(self.running_mean, 0.0)
            _C.fill_constant(self.running_var, 1.0)
            _C.fill_constant(self.num_batches_tracked, 0.0)

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            _C.forget(self.weight)
            _C.forget(self.bias)

    def _check_input_dim(self, input):
        if input.dim() not in self.ranks:
            raise ValueError(f"expected {self.expected} input (got {input.dim()}D input)")

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"track_running_stats={self.track_running_stats}")


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        momentum = 0.0 if self.momentum is None else self.momentum
        bn_training = self.training or (self.running_mean is None and self.running_var is None)
        use_stats = not self.training or self.track_running_stats
        return F.batch_norm(input, self.running_mean if use_stats else None, self.running_var if use_stats else None,
                            self.weight, self.bias, bn_training, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    ranks, expected = (2, 3), "2D or 3D"


class BatchNorm2d(_BatchNorm):
    ranks, expected = (4,), "4D"


class BatchNorm3d(_BatchNorm):
    ranks, expected = (5,), "5D"


class SyncBatchNorm(_BatchNorm):
    ranks, expected = (2, 3, 4, 5), "at least 2D"

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
        device=None, dtype=None,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)
        self.process_group = process_group

    def forward(self, input):
        bn_training = self.training or (self.running_mean is None and self.running_var is None)
        world_size = 1
        if bn_training and self.training and torch.distributed.is_initialized():
            if not input.is_cuda:
                raise ValueError("SyncBatchNorm expected input tensor to be on GPU or XPU or privateuseone")
            process_group = self.process_group or torch.distributed.group.WORLD
            world_size = torch.distributed.get_world_size(process_group)
        if world_size == 1:
            return super().forward(input)
        self._check_input_dim(input)
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")
        if self.track_running_stats:
            self.num_batches_tracked.add_(1)
        return sync_batch_norm.apply(
            input, self.weight, self.bias,
            self.running_mean if self.track_running_stats else None,
            self.running_var if self.track_running_stats else None,
            self.eps, 0.0 if self.momentum is None else self.momentum, process_group, world_size,
        )

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        out = module
        if isinstance(module, _BatchNorm):
            settings = module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats
            out = cls(*settings, process_group)
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked", "training"):
                setattr(out, name, getattr(module, name))
        for name, child in module.named_children():
            out.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return out
