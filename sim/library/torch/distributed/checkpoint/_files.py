import _tidemark
from torch.distributed import distributed_c10d as c10d

# States of all ranks in files. What is written goes to the host piece by piece and what is read comes from there into
# tensors that exist, so the device's memory stays as it is. Source: torch.distributed.checkpoint.state_dict_saver,
# state_dict_loader, filesystem.


class _Place:
    """where files lie, or how they are planned"""

    def __init__(self, *args, **kwargs):
        self.path = args[0] if args else kwargs.get("path")


class FileSystemWriter(_Place):
    pass


class FileSystemReader(_Place):
    pass


class DefaultSavePlanner(_Place):
    pass


class DefaultLoadPlanner(_Place):
    pass


class _Saved:
    """what async_save() gives; by then it is done"""

    def result(self, timeout=None):
        return None

    def wait(self):
        return None

    def done(self):
        return True

    def exception(self, timeout=None):
        return None

    def add_done_callback(self, function):
        function(self)


def _serves_hosts(group):
    return not c10d.is_initialized() or "gloo" in c10d._group(group)._backend


def _plan(group, no_dist):
    """ranks tell each other what they write: over NCCL through the device"""
    if not no_dist and not _serves_hosts(group):
        _tidemark.note("the plans that ranks of a checkpoint send each other over NCCL are not counted: some KiB")


def _is_stateful(value):
    return hasattr(value, "state_dict") and hasattr(value, "load_state_dict")


def _states(state_dict):
    return {key: value.state_dict() if _is_stateful(value) else value for key, value in state_dict.items()}


def save(
    state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, no_dist=False,
    use_collectives=True
):
    states = _states(state_dict)
    _plan(process_group, no_dist)
    del states


def async_save(
    state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None,
    async_checkpointer_type=None, async_stager=None, no_dist=False, use_collectives=True
):
    if not no_dist and not _serves_hosts(process_group):
        raise AssertionError(
            "A CPU backend must be enabled for async save; try initializing process group with 'cpu:gloo,cuda:nccl'"
        )
    states = _states(state_dict)
    del states
    return _Saved()


def load(
    state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, no_dist=False
):
    keys = sorted(state_dict.keys())
    states = {}
    for key in keys:
        value = state_dict[key]
        states[key] = value.state_dict() if _is_stateful(value) else value
    _plan(process_group, no_dist)
    for key in keys:
        if _is_stateful(state_dict[key]):
            state_dict[key].load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


def save_state_dict(
    state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None
):
    _plan(process_group, no_dist)


def load_state_dict(
    state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None
):
    _plan(process_group, no_dist)
