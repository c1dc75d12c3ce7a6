import torch.distributed as dist
import weakref

# Steps of a ZeroRedundancyOptimizer in a communication hook, as soon as a bucket's gradients are there. Source:
# torch.distributed.algorithms.ddp_comm_hooks.ddp_zero_hook


def _is_ready(ddp, zero, bucket):
    """buckets that DDP made anew are told to the optimizer, which begins with the first bucket after that"""
    info = zero._overlap_info
    if not ddp.reducer.has_rebuilt:
        return False
    if not info.initialized:
        if bucket.index() == 0 and info.params_per_bucket:
            zero._init_zero_for_overlap()
        else:
            info.params_per_bucket.append(bucket.parameters())
    return info.initialized


def _local_step(bucket, zero):
    info, assigned = zero._overlap_info, zero._overlap_info.assignments[zero.rank][bucket.index()]
    gradients = [None] * len(zero.optim.params)
    start = info.offsets[bucket.index()]
    given = bucket.gradients()[assigned.offset:assigned.offset + len(assigned.parameters)]
    for i, grad in enumerate(given):
        gradients[start + i] = grad
    zero._functional_step(gradients)


def _broadcast_bucket(index, zero):
    info = zero._overlap_info
    for rank in sorted(info.ranks_of_bucket[index]):
        source = dist.get_global_rank(zero.process_group, rank)
        tensor = info.assignments[rank][index].tensor
        info.broadcast_handles.append(dist.broadcast(tensor, source, group=zero.process_group, async_op=True))


def _begin(ddp, zero, shard_buckets):
    if not zero._overlap_with_ddp:
        raise ValueError(
            "ZeroRedundancyOptimizer must be constructed with `overlap_with_ddp=True` to use this hook properly"
        )
    zero._overlap_info.shard_buckets = shard_buckets
    return weakref.ref(ddp)


def hook_with_zero_step(hook, ddp, zero, shard_buckets=False):
    """the steps after the last bucket"""
    ddp_ref = _begin(ddp, zero, shard_buckets)

    def hook_with_zero_fn(state, bucket):
        fut = hook(state, bucket)
        if not _is_ready(ddp_ref(), zero, bucket):
            return fut
        info, index = zero._overlap_info, bucket.index()
        if zero.rank in info.ranks_of_bucket[index]:
            info.buckets[index], info.futures[index] = bucket, fut
        if index != len(info.params_per_bucket) - 1:
            return fut
        for each in range(len(info.params_per_bucket)):
            if zero.rank in info.ranks_of_bucket[each]:
                info.futures[each].wait()
                _local_step(info.buckets[each], zero)
            _broadcast_bucket(each, zero)
        info.wait_for_broadcasts()
        return fut

    return hook_with_zero_fn


def hook_with_zero_step_interleaved(hook, ddp, zero, shard_buckets=False):
    """a step after each bucket"""
    ddp_ref = _begin(ddp, zero, shard_buckets)

    def hook_with_zero_interleaved_fn(state, bucket):
        fut = hook(state, bucket)
        if not _is_ready(ddp_ref(), zero, bucket):
            return fut

        def zero_step(fut):
            info, index = zero._overlap_info, bucket.index()
            info.seen += 1
            if zero.rank in info.ranks_of_bucket[index]:
                _local_step(bucket, zero)
            _broadcast_bucket(index, zero)
            if info.seen == len(info.params_per_bucket):
                info.wait_for_broadcasts()
            return bucket.buffer()

        return fut.then(zero_step)

    return hook_with_zero_interleaved_fn
