import _seeds
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
        made = torch.empty(size, dtype=dtype, device=device, requires_grad=requires_grad)
        return made.normal_(mean, std, generator=generator)
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        _C.refuse(
            "the gradient of torch.normal is not modelled",
            "sample under torch.no_grad(), or mean + std * torch.randn_like(mean)",
        )
    if len(tensors) == 2:
        _check_std(std)
        made = torch.empty(
            torch.broadcast_shapes(mean.shape, std.shape), dtype=mean.dtype, device=mean.device
        ).normal_(generator=generator)
        return made.mul_(std).add_(mean)
    if isinstance(mean, torch.Tensor):
        made = torch.empty(mean.shape, dtype=mean.dtype, device=mean.device)
        return made.normal_(0, std, generator=generator).add_(mean)
    _check_std(std)
    made = torch.empty(std.shape, dtype=std.dtype, device=std.device).normal_(generator=generator)
    return made.mul_(std).add_(torch.full((), mean, dtype=std.dtype, device=std.device))


def _is_all_true(input):
    return input.all()


def _assert_async(input, assert_msg=""):
    """on a device a kernel looks, and nothing is read back"""
    if input.numel() != 1:
        amount = "more than one value" if input.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
    if not input.is_cuda and not _is_all_true(input.bool()).item():
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


class Generator:
    """random numbers of the host are PyTorch's own; a device's are not known"""

    def __init__(self, device="cpu"):
        self.device = torch.device(device)
        self._number = _C.make_generator() if self.device.type == "cpu" else None
        self._seed = 67280421310721 if self.device.type == "cpu" else 0

    def manual_seed(self, seed):
        self._seed = seed = _whole(_seeds.known(seed))
        if self._number is not None:
            _C.seed_generator(self._number, seed)
        return self

    def seed(self):
        """of the operating system's chance, for which a fixed number stands"""
        self.manual_seed(_chance)
        return _chance

    def initial_seed(self):
        return self._seed

    def get_state(self):
        state = torch.empty(5056 if self.device.type == "cpu" else 16, dtype=torch.uint8, device="cpu")
        if self._number is not None:
            state._generator_state = _C.generator_state(self._number)
        return state

    def set_state(self, new_state):
        if self._number is not None:
            _C.set_generator_state(self._number, getattr(new_state, "_generator_state", None))
        return self

    def graphsafe_get_state(self):
        return self

    def graphsafe_set_state(self, state):
        return self.set_state(state.get_state())

    def clone_state(self):
        made = Generator(self.device)
        return made.set_state(self.get_state())


_whole, _chance = type(1), 2147483647


class _DefaultGenerator(Generator):
    def __init__(self):
        self.device, self._number, self._seed = torch.device("cpu"), 0, 67280421310721


default_generator = _DefaultGenerator()
