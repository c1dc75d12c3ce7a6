# module: torch._tensor torch.Tensor
# defines: new to_dense clip_ divide_ subtract_ true_divide_ arctan2_ new_tensor split_with_sizes unsafe_chunk unsafe_split is_same_size is_inference is_neg is_signed is_distributed is_nonzero storage untyped_storage numpy
import torch
import torch._C as _C


def new(self, *args, device=None):
    return torch._typed_tensor(self.dtype, self.device if device is None else device, args)


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
        _C.refuse("to_dense() of a sparse tensor is not modelled", "make the tensor dense from the start")
    return self if dtype is None else self.to(dtype)


def split_with_sizes(self, split_sizes, dim=0):
    return self.split(list(split_sizes), dim)


def unsafe_chunk(self, chunks, dim=0):
    return self.chunk(chunks, dim)


def unsafe_split(self, split_size, dim=0):
    return self.split(split_size, dim)


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


class _Storage:
    """the memory under a tensor: its size and whose it is"""

    def __init__(self, tensor):
        self._tensor = tensor

    def nbytes(self):
        return _C.storage_bytes(self._tensor)

    def size(self):
        return _C.storage_bytes(self._tensor)

    def __len__(self):
        return _C.storage_bytes(self._tensor)

    def data_ptr(self):
        return self._tensor.data_ptr()

    def resize_(self, size):
        _C.refuse("resizing a storage is not modelled", "drop the tensor, or keep it")


def untyped_storage(self):
    return _Storage(self)


def storage(self):
    return _Storage(self)


def numpy(self, *, force=False):
    from numpy._array import made, on_host

    return made(on_host(self.detach().cpu() if force else self).detach())
