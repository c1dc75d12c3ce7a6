# module: torch._tensor torch.Tensor
# defines: type
import torch


def type(self, dtype=None, non_blocking=False):
    if dtype is None:
        for each in torch._tensor_types:
            if isinstance(self, each):
                return each.name
        return "torch." + ("cuda." if self.is_cuda else "") + "Tensor"
    if isinstance(dtype, torch.dtype):
        return self.to(dtype)
    for each in torch._tensor_types:
        if dtype is each or dtype == each.name:
            # From one GPU's memory the type of another's keeps the place.
            return self.to(each.dtype) if self.is_cuda == (each.device == "cuda") else self.to(each.device, each.dtype, non_blocking)
    raise ValueError(f"invalid type: {dtype!r}")
