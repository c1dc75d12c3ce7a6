"""What NCCL's collectives refuse of their tensors. Source: docs/rules/distributed.md."""

import torch


def require_contiguous(group, tensors):
    """Errors: ValueError for a tensor with gaps in memory; channels-last ones have none."""
    if "nccl" in group._backend and not all([_is_dense(t) for t in tensors if t.is_cuda and not t.is_sparse]):
        raise ValueError("Tensors must be contiguous")


def _is_dense(tensor):
    if tensor.is_contiguous():
        return True
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.dim() in formats and tensor.is_contiguous(memory_format=formats[tensor.dim()])
