import torch
from typing import Any, Union

Tensor = torch.Tensor
Number = Union[int, float, bool]
Device = Union[torch.device, str, int, None]
_device, _dtype, _size, _layout, _int, _float, _bool = torch.device, torch.dtype, torch.Size, object, int, float, bool
FileLike = Storage = Any
