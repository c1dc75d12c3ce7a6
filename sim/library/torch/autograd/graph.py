from typing import NamedTuple

import torch
import torch._C as _C


class GradientEdge(NamedTuple):
    """where a gradient goes: a node, and the number of the result that it made"""

    node: object
    output_nr: int


def get_gradient_edge(tensor):
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(*_C.gradient_edge(tensor))


class saved_tensors_hooks:
    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        _C.push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *error):
        _C.pop_saved_tensors_hooks()
        return False


class save_on_cpu(saved_tensors_hooks):
    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            if not pin_memory:
                return (tensor.device, tensor.cpu())
            packed = torch.empty(tensor.size(), dtype=tensor.dtype, pin_memory=True)
            packed.copy_(tensor)
            return (tensor.device, packed)

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)
