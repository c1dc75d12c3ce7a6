import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import _allreduce_fut
from torch.futures import Future

# Source: torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook


class PostLocalSGDState:
    def __init__(self, process_group, subgroup, start_localSGD_iter, post_local_gradient_allreduce=True):
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter, self.iter = start_localSGD_iter, 0
        self.post_local_gradient_allreduce = post_local_gradient_allreduce

    def maybe_increase_iter(self, bucket):
        if bucket.is_last():
            self.iter += 1


def post_localSGD_hook(state, bucket):
    """gradients are summed over all ranks at first, then over those of a subgroup or not at all"""
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return _allreduce_fut(state.process_group, bucket.buffer())
    if not state.post_local_gradient_allreduce:
        result = Future()
        result.set_result(bucket.buffer())
        return result
    if state.subgroup is None:
        state.subgroup, _ = dist.new_subgroups()
    return _allreduce_fut(state.subgroup, bucket.buffer())
