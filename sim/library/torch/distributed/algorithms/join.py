import torch
import torch.distributed as dist

# Ranks with uneven inputs. The other ranks of a job have as many inputs as this one: all join at once. Source:
# torch.distributed.algorithms.join


class JoinHook:
    """what a process does that has no inputs left"""

    def main_hook(self):
        pass

    def post_hook(self, is_last_joiner):
        pass


class _JoinConfig:
    def __init__(self, enable, throw_on_early_termination, is_first_joinable):
        self.enable, self.throw_on_early_termination = enable, throw_on_early_termination
        self.is_first_joinable = is_first_joinable

    @staticmethod
    def construct_disabled_join_config():
        return _JoinConfig(False, False, False)


class Joinable:
    """what takes part: it has join_hook(), join_device and join_process_group"""

    _join_config = _JoinConfig(False, False, False)


class Join:
    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables, self._enable, self._throws = joinables, enable, throw_on_early_termination
        self._join_hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._process_group, self._device = joinables[0].join_process_group, joinables[0].join_device
        for i, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, i == 0)
            if joinable.join_process_group is not self._process_group:
                raise ValueError("Using join context manager with multiple process groups")

    def __enter__(self):
        return None

    def __exit__(self, kind, value, traceback):
        if not self._enable or kind:
            return
        num_nonjoined_procs = torch.zeros(1, device=self._device)
        dist.all_reduce(num_nonjoined_procs, group=self._process_group)
        del num_nonjoined_procs
        for join_hook in self._join_hooks:
            join_hook.post_hook(True)

    @staticmethod
    def notify_join_context(joinable):
        """tells the others that this process goes on; the work of it"""
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        device, process_group = joinable.join_device, joinable.join_process_group
        ones = torch.ones(1, device=device)
        work = dist.all_reduce(ones, group=process_group, async_op=True)
        if config.throw_on_early_termination:
            zeros = torch.zeros(1, device=device)
            dist.all_reduce(zeros, group=process_group)
        return work
