import torch
from torch.distributed._buckets import _flatten as _flatten_dense_tensors


def _get_available_device_type():
    """the kind of the devices here: CUDA's, or none"""
    return "cuda" if torch.cuda.is_available() else None


def _get_device_module(device_type):
    """torch.cuda for "cuda" """
    module = getattr(torch, device_type, None)
    if module is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'."
        )
    return module


def _unflatten_dense_tensors(flat, tensors):
    """views of a flat tensor, shaped as the tensors"""
    outputs, offset = [], 0
    for tensor in tensors:
        numel = tensor.numel()
        outputs.append(flat.narrow(0, offset, numel).view_as(tensor))
        offset += numel
    return tuple(outputs)


def _take_tensors(tensors, size_limit):
    """tensors of one type at a time, in lists of about so many bytes"""
    taken = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        bucket = taken.setdefault(tensor.dtype, [[], 0])
        if bucket[1] + size > size_limit and bucket[1] > 0:
            yield bucket[0]
            bucket = taken[tensor.dtype] = [[], 0]
        bucket[0].append(tensor)
        bucket[1] += size
    for bucket, _ in taken.values():
        if bucket:
            yield bucket
