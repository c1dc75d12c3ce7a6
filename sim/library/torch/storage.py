import torch._C as _C
import weakref
from itertools import count


# Memory of the host has no addresses here: those who ask get numbers, one for each storage that lives.
_numbered = {}
_numbers = count(1 << 62, 1 << 31)


def _number_of(tensor):
    size = _C.storage_bytes(tensor)
    if size == 0 or tensor.device.type != "cpu":
        return 0
    alike = [(other, number) for other, number in _numbered.get(size, []) if other() is not None]
    _numbered[size] = alike
    for other, number in alike:
        if _C.same_storage(other(), tensor):
            return number
    number = next(_numbers)
    alike.append((weakref.ref(tensor), number))
    return number


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
        return self._tensor._device_address() or _number_of(self._tensor)

    def resize_(self, size):
        _C.resize_storage(self._tensor, size)
