import torch
import torch._C as _C

# One rank is simulated: what it holds does not depend on the others. NCCL's own memory is outside the allocator.
_DEFAULT_FIRST_BUCKET_BYTES = 1024 * 1024


class HashStore:
    pass


class ReduceOp:
    SUM, AVG, PRODUCT, MIN, MAX = "sum", "avg", "product", "min", "max"


class _Group:
    def __init__(self, backend, rank, world_size):
        self.backend, self._rank, self._world_size = backend, rank, world_size

    def rank(self):
        return self._rank

    def size(self):
        return self._world_size


class GroupMember:
    WORLD = None


group = GroupMember


def is_available():
    return True


def is_nccl_available():
    return True


def is_initialized():
    return GroupMember.WORLD is not None


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
):
    if GroupMember.WORLD is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if backend is not None and "nccl" not in backend:
        _C.refuse("the process group backend '" + backend + "' is not modelled", "use nccl")
    if world_size < 1 or rank < 0:
        _C.refuse(
            "init_process_group takes rank and world size from the environment here", "give world_size= and rank="
        )
    GroupMember.WORLD = _Group("nccl", rank, world_size)


def destroy_process_group(group=None):
    GroupMember.WORLD = None


def _get_default_group():
    if GroupMember.WORLD is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return GroupMember.WORLD


def get_rank(group=None):
    return (group or _get_default_group()).rank()


def get_world_size(group=None):
    return (group or _get_default_group()).size()


def get_backend(group=None):
    return (group or _get_default_group()).backend


def _check(group, tensor):
    _get_default_group()
    if not tensor.is_cuda:
        raise RuntimeError("No backend type associated with device type cpu")


class _Work:
    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True


# Collectives write into what they are given.
def all_reduce(tensor, op=None, group=None, async_op=False):
    _check(group, tensor)
    return _Work() if async_op else None


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    _check(group, tensor)
    return _Work() if async_op else None


def reduce(tensor, dst=None, op=None, group=None, async_op=False, group_dst=None):
    _check(group, tensor)
    return _Work() if async_op else None


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """through one flat tensor of all ranks' parts"""
    _check(group, tensor)
    torch.empty((len(tensor_list), *tensor.shape), dtype=tensor.dtype, device=tensor.device)
    return _Work() if async_op else None


def barrier(group=None, async_op=False, device_ids=None):
    _get_default_group()
    _C.refuse("barrier() is not modelled", "take it away: it orders ranks and keeps no memory")


def _flatten(tensors):
    if len(tensors) == 1:
        return tensors[0].contiguous().view(-1)
    return torch.cat([t.contiguous().view(-1) for t in tensors])


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


def _broadcast_coalesced(tensors, buffer_size):
    """flat copies of at most `buffer_size` bytes, two of them under way"""
    in_flight = []
    for bucket in _bucket_assignment(tensors, [buffer_size]):
        if len(in_flight) == 2:
            in_flight.pop(0)
        in_flight.append(_flatten([tensors[i] for i in bucket]))
    while in_flight:
        in_flight.pop(0)


def _verify_params_across_processes(parameters, world_size):
    """the ranks compare how many parameters they have, then their sizes and strides"""
    device = parameters[0].device
    count = torch.empty(1, dtype=torch.int64).to(device)
    outputs = [torch.empty_like(count) for rank in range(world_size)]
    all_gather(outputs, count)
    words = 0
    for p in parameters:
        words += 2 * p.dim()
    torch.empty(words, dtype=torch.int64).to(device)
    while outputs:
        outputs.pop(0)
