"""Methods of tensors: every public name of this file is one, a function of torch among them.

The class itself and its other methods are C++ (sim/torch/tensors).
"""
import torch
import torch._C as _C
from torch._refs.comparing import allclose, isclose
from torch._refs.composites import (
    arctan2, bincount, diff, equal, fill_diagonal_, inner, kron, msort, nanmean, nanquantile,
    quantile, sum_to_size,
)
from torch._refs.matrices import (
    cholesky, cholesky_inverse, cholesky_solve, det, inverse, logdet, lstsq, lu, matrix_exp,
    matrix_power, pinverse, qr, slogdet, svd, triangular_solve,
)
from torch._refs.signal import istft
from torch._refs.statistics import corrcoef, cov
from torch.functional import stft, unique, unique_consecutive
from torch.storage import _number_of, _Storage


def new(self, *args, device=None):
    return torch._typed_tensor(self.dtype, self.device if device is None else device, args)


def data_ptr(self):
    start = self._device_address() or _number_of(self)
    return start + self.storage_offset() * self.itemsize if start else 0


def clip_(self, min=None, max=None):
    return self.clamp_(min, max)


def divide_(self, other, *, rounding_mode=None):
    return self.div_(other, rounding_mode=rounding_mode)


def subtract_(self, other, *, alpha=1):
    return self.sub_(other, alpha=alpha)


def true_divide_(self, other):
    return self.div_(other)


def arctan2_(self, other):
    return self.atan2_(other)


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    return torch.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)


def to_dense(self, dtype=None):
    if self.is_sparse:
        dense = torch._sparse_to_dense(self)
        return dense if dtype is None else dense.to(dtype)
    return self if dtype is None else self.to(dtype)


def sparse_dim(self):
    return self._indices().shape[0] if self.is_sparse else 0


def dense_dim(self):
    return self._values().dim() - 1 if self.is_sparse else self.dim()


def split_with_sizes(self, split_sizes, dim=0):
    return self.split(list(split_sizes), dim)


def unsafe_chunk(self, chunks, dim=0):
    return self.chunk(chunks, dim)


def unsafe_split(self, split_size, dim=0):
    return self.split(split_size, dim)


def resize_(self, *sizes, memory_format=None):
    """the memory grows where it is too small, and never shrinks. Source: at::native::resize_cuda_"""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    shape = torch.Size(sizes if len(sizes) != 1 or isinstance(sizes[0], int) else sizes[0])
    stride, step = [], 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= max(size, 1)
    needed = (self.storage_offset() + shape.numel()) * self.element_size()
    if needed > self.untyped_storage().nbytes():
        _C.resize_storage(self, needed)
    _C.set_local(self, self.detach().as_strided(shape, stride))
    return self


def is_same_size(self, other):
    return self.shape == other.shape


def is_inference(self):
    return False


def is_neg(self):
    return False


def is_signed(self):
    return self.dtype != torch.bool and self.dtype != torch.uint8


def is_distributed(self):
    return False


def is_nonzero(self):
    return bool(self)


def untyped_storage(self):
    return _Storage(self)


def storage(self):
    return _Storage(self)


def numpy(self, *, force=False):
    from numpy._core.multiarray import made, on_host

    return made(on_host(self.detach().cpu() if force else self).detach())


def type(self, dtype=None, non_blocking=False):
    if dtype is None:
        for each in torch._tensor_types:
            if isinstance(self, each):
                return f"{each.__module__}.{each.__name__}"
        return "torch." + ("cuda." if self.is_cuda else "") + "Tensor"
    if isinstance(dtype, torch.dtype):
        return self.to(dtype)
    for each in torch._tensor_types:
        if dtype is each or dtype == f"{each.__module__}.{each.__name__}":
            # From one GPU's memory the type of another's keeps the place.
            return (
                self.to(each.dtype)
                if self.is_cuda == (each._device == "cuda")
                else self.to(each._device, each.dtype, non_blocking)
            )
    raise ValueError(f"invalid type: {dtype!r}")
