import torch
import torch._C as _C


def _check_std(std):
    if std.numel() > 0:
        least = std.min()
        least.ge(0).item()


def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, out=None):
    """Source: at::native::templates::normal_out_impl"""
    if out is not None:
        _C.refuse("torch.normal(out=) is not modelled", "assign the result")
    tensors = [t for t in (mean, std) if isinstance(t, torch.Tensor)]
    if size is not None:
        return torch.empty(size, dtype=dtype, device=device, requires_grad=requires_grad).normal_()
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        _C.refuse(
            "the gradient of torch.normal is not modelled",
            "sample under torch.no_grad(), or mean + std * torch.randn_like(mean)",
        )
    if len(tensors) == 2:
        _check_std(std)
        made = torch.empty(
            torch.broadcast_shapes(mean.shape, std.shape), dtype=mean.dtype, device=mean.device
        ).normal_()
        return made.mul_(std).add_(mean)
    if isinstance(mean, torch.Tensor):
        return torch.empty(mean.shape, dtype=mean.dtype, device=mean.device).normal_().add_(mean)
    _check_std(std)
    made = torch.empty(std.shape, dtype=std.dtype, device=std.device).normal_()
    return made.mul_(std).add_(torch.full((), mean, dtype=std.dtype, device=std.device))


def _is_all_true(input):
    return input.all()


class Generator:
    """the state of random numbers: kept on the host, whatever the device"""

    def __init__(self, device="cpu"):
        self.device = torch.device(device)

    def manual_seed(self, seed):
        return self

    def seed(self):
        return 0

    def initial_seed(self):
        return 0

    def get_state(self):
        return torch.empty(5056 if self.device.type == "cpu" else 16, dtype=torch.uint8, device="cpu")

    def set_state(self, new_state):
        return self


default_generator = Generator()
