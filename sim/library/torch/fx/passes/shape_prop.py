import typing

import torch
from torch.fx.interpreter import Interpreter
from torch.fx.node import map_aggregate


class TensorMetadata(typing.NamedTuple):
    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple
    memory_format: typing.Any
    is_quantized: bool
    qparams: dict


def _extract_tensor_metadata(result, include_contiguity=True):
    memory_format = None
    for each in (torch.contiguous_format, torch.channels_last, torch.channels_last_3d) if include_contiguity else ():
        if each is torch.channels_last and result.dim() != 4 or each is torch.channels_last_3d and result.dim() != 5:
            continue
        if result.is_contiguous(memory_format=each):
            memory_format = each
            break
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), memory_format, False, {}
    )


class ShapeProp(Interpreter):
    """runs a graph and keeps by node what its tensors are"""

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)

    def run_node(self, n):
        result = super().run_node(n)
        found = []

        def metadata(each):
            if isinstance(each, torch.Tensor):
                found.append(each)
                return _extract_tensor_metadata(each)
            return each

        meta = map_aggregate(result, metadata)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        return super().run(*args)
