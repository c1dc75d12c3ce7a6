import torch
from torch.distributed._buckets import _bucket_assignment, _flatten

_BUFFER_SIZE = 10485760


def _part(flat, offset, like):
    return flat[offset:offset + like.numel()].view(like.shape)


def broadcast_coalesced(tensors, devices, buffer_size=_BUFFER_SIZE):
    """to each device beyond the first in flat buffers, whose parts are the copies"""
    outputs = [list(tensors)] + [[None] * len(tensors) for device in devices[1:]]
    for chunk in _bucket_assignment(tensors, [buffer_size], None, list(range(len(tensors)))):
        flat = _flatten([tensors[i] for i in chunk])
        results = [flat] + [torch.empty_like(flat, device=device) for device in devices[1:]]
        for n in range(1, len(devices)):
            offset = 0
            for i in chunk:
                outputs[n][i] = _part(results[n], offset, tensors[i]).data
                offset += tensors[i].numel()
        flat, results = None, None
    return outputs


def reduce_add(inputs, destination=None):
    root = [x for x in inputs if x.device == destination]
    if not root:
        raise RuntimeError("reduce_add expects destination to be on the same GPU with one of the tensors")
    if len(inputs) == 1:
        return inputs[0]
    return torch.empty_like(root[-1])


def _take_tensors(tensors, size_limit):
    groups = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        if tensor.dtype not in groups:
            groups[tensor.dtype] = [[], 0]
        group = groups[tensor.dtype]
        if group[1] + size > size_limit and group[1] > 0:
            yield group[0]
            group = groups[tensor.dtype] = [[], 0]
        group[0].append(tensor)
        group[1] += size
    for group in groups.values():
        if group[0]:
            yield group[0]


def reduce_add_coalesced(inputs, destination=None, buffer_size=_BUFFER_SIZE):
    by_type = {}
    for chunks in zip(*[_take_tensors(tensors, buffer_size) for tensors in inputs]):
        flat_tensors = [_flatten(chunk) for chunk in chunks]
        flat_result = reduce_add(flat_tensors, destination)
        offset = 0
        for t in chunks[0]:
            by_type.setdefault(t.dtype, []).append(_part(flat_result, offset, t).data)
            offset += t.numel()
    taken = {dtype: iter(tensors) for dtype, tensors in by_type.items()}
    return tuple([next(taken[t.dtype]) for t in inputs[0]])


def scatter(tensor, devices, chunk_sizes=None, dim=0):
    chunks = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    return tuple([chunk.to(device) for chunk, device in zip(chunks, devices)])


def gather(tensors, dim=0, destination=None):
    shape = list(tensors[0].shape)
    shape[dim] = sum([t.size(dim) for t in tensors])
    last = all(
        [t.dim() == 4 and t.is_contiguous(memory_format=torch.channels_last) and not t.is_contiguous() for t in tensors]
    )
    return torch.empty(shape, dtype=tensors[0].dtype, device=destination,
                       memory_format=torch.channels_last if last else torch.contiguous_format)
