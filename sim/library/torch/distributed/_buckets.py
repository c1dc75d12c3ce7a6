import torch
from torch.distributed.distributed_c10d import all_gather


def _flatten(tensors):
    if len(tensors) == 1:
        return tensors[0].contiguous().view(-1)
    parts = [t.contiguous().view(-1) for t in tensors]
    flat = torch.cat(parts)
    while parts:
        parts.pop(0)
    return flat


def _bucket_assignment(tensors, limits, expect_sparse=None, indices=None):
    """which tensors share a bucket: one list of indices each. A bucket of a type and device closes when it reaches its
    limit; the last limit holds for all that follow."""
    open_buckets, result = {}, []
    for i, tensor in enumerate(tensors):
        index = i if indices is None else indices[i]
        if expect_sparse is not None and expect_sparse[index]:
            result.append([index])
            continue
        key = (tensor.dtype, tensor.device)
        if key not in open_buckets:
            open_buckets[key] = [[], 0, 0]
        bucket = open_buckets[key]
        bucket[0].append(index)
        bucket[1] += tensor.numel() * tensor.element_size()
        if bucket[1] >= limits[bucket[2]]:
            result.append(bucket[0])
            bucket[0], bucket[1] = [], 0
            if bucket[2] + 1 < len(limits):
                bucket[2] += 1
    for bucket in list(open_buckets.values())[::-1]:  # as C++'s hash table gives them: the newest key first
        if bucket[0]:
            result.append(bucket[0])
    return sorted(result, key=min) if indices is None else result


def _broadcast_coalesced(tensors, buffer_size, group=None):
    """flat copies of at most `buffer_size` bytes, two of them under way"""
    in_flight = []
    for bucket in _bucket_assignment(tensors, [buffer_size]):
        if len(in_flight) == 2:
            in_flight.pop(0)
        in_flight.append(_flatten([tensors[i] for i in bucket]))
        if group is not None:
            group._passed_to_others(in_flight[-1:], kind="broadcast")
    while in_flight:
        in_flight.pop(0)


def _verify_params_across_processes(parameters, group):
    """the ranks compare how many parameters they have, then their sizes and strides"""
    device = parameters[0].device
    count = torch.empty(1, dtype=torch.int64).to(device)
    outputs = [torch.empty_like(count) for rank in range(group.size())]
    all_gather(outputs, count, group)
    words = 0
    for p in parameters:
        words += 2 * p.dim()
    sizes = torch.empty(words, dtype=torch.int64).to(device)
    group._passed_to_others([sizes], kind="broadcast")
    del sizes
    while outputs:
        outputs.pop(0)
