import torch._C as _C


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
        _C.resize_storage(self._tensor, size)
