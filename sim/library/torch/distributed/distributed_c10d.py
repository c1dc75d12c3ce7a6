import os
import torch
import torch._C as _C
from contextlib import contextmanager
from torch.distributed._exchanges import receive_counts, send_numbers
from torch.distributed._reduce_op import ReduceOp
from torch.distributed._nccl import ProcessGroup, Ranks, Work
from torch.distributed._stores import FileStore, HashStore, Store, TCPStore
from torch.distributed._tensor_checks import checked, require_contiguous
from torch.distributed.rendezvous import _job

_DEFAULT_FIRST_BUCKET_BYTES = 1024 * 1024


class Backend:
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"
    default_device_backend_map = {"cpu": "gloo", "cuda": "nccl", "xpu": "xccl", "mps": "gloo"}
    backend_list = ["undefined", "gloo", "nccl", "xccl", "ucc", "mpi"]


class _NonGroupMember:
    def size(self):
        return -1

    rank = size


class GroupMember:
    WORLD = None
    NON_GROUP_MEMBER = _NonGroupMember()


group = GroupMember
_world_groups = []


def is_available():
    return True


is_nccl_available = is_gloo_available = is_available


def is_mpi_available():
    return False


is_ucc_available = is_xccl_available = is_mpi_available


def is_backend_available(backend):
    return backend in ("nccl", "gloo")


def is_initialized():
    return GroupMember.WORLD is not None


def is_torchelastic_launched():
    return "TORCHELASTIC_RUN_ID" in os.environ._values


def get_node_local_rank(fallback_rank=None):
    if "LOCAL_RANK" in os.environ._values:
        return int(os.environ._values["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work"
    )


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
    asked, backend = backend, "nccl" if backend is None else str(backend)
    for part in backend.split(","):
        if part.split(":")[-1] not in ("nccl", "gloo"):
            _C.refuse("the process group backend '" + backend + "' is not modelled", "use nccl")
    rank, world_size = _job(init_method, rank, world_size)
    made = ProcessGroup(range(world_size), rank, "0", backend, "default_pg")
    made._serves_hosts = str(asked) != "nccl"
    GroupMember.WORLD = made
    _world_groups.append(made)
    if device_id is not None:
        is_index = isinstance(device_id, int)
        made.bound_device_id = torch.device("cuda", device_id) if is_index else torch.device(device_id)
        made._stream(made.bound_device_id)


def destroy_process_group(group=None):
    if group is None or group is GroupMember.WORLD:
        GroupMember.WORLD = None
        _world_groups.clear()
    elif group in _world_groups:
        _world_groups.remove(group)


def _get_default_group():
    if GroupMember.WORLD is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return GroupMember.WORLD


def _group(group):
    return _get_default_group() if group is None else group


_group_or_default_group = _group


def _outside(group):
    return group is GroupMember.NON_GROUP_MEMBER


def _rank_not_in_group(group):
    return _outside(group)


def get_rank(group=None):
    return -1 if _outside(group) else _group(group).rank()


def get_world_size(group=None):
    return -1 if _outside(group) else _group(group).size()


def get_backend(group=None):
    if _outside(group):
        raise ValueError("Invalid process group specified")
    return _group(group)._backend


def get_default_backend_for_device(device):
    return "nccl" if torch.device(device).type == "cuda" else "gloo"


def get_process_group_ranks(group):
    return list(_group(group)._ranks)


def get_global_rank(group, group_rank):
    ranks = _group(group)._ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group, global_rank):
    ranks = _group(group)._ranks
    for i in [global_rank] if isinstance(ranks, range) and global_rank in ranks else range(len(ranks)):
        if ranks[i] == global_rank:
            return i
    raise ValueError(f"Global rank {global_rank} is not part of group {group}")


def get_pg_count():
    return len(_world_groups)


# ---- groups


def new_group(
    ranks=None,
    timeout=None,
    backend=None,
    pg_options=None,
    use_local_synchronization=False,
    group_desc=None,
    device_id=None,
    sort_ranks=True,
):
    world = _get_default_group()
    ranks = list(world._ranks) if ranks is None else list(ranks)
    if sort_ranks:
        ranks = sorted(ranks)
    if len(ranks) > world.size():
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    for rank in ranks:
        if not 0 <= rank < world.size():
            raise ValueError("The new group's rank should be within the world_size set by init_process_group")
    if world.rank() not in ranks:
        return GroupMember.NON_GROUP_MEMBER
    return _own_group(ranks, ranks.index(world.rank()), backend)


def _own_group(ranks, rank, backend=None):
    """a new group of which this rank is number `rank`"""
    world = _get_default_group()
    made = ProcessGroup(ranks, rank, str(len(_world_groups)), backend or world._backend)
    if world.bound_device_id is not None:
        made.bound_device_id = world.bound_device_id
        made._stream(made.bound_device_id)
    _world_groups.append(made)
    return made


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None
):
    subgroups, own = [], None
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options)
        subgroups.append(made)
        if get_rank() in ranks:
            own = made
    return own, subgroups


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    group_size = torch.cuda.device_count() if group_size is None else group_size
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    ranks = get_process_group_ranks(group)
    if len(ranks) < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({len(ranks)})")
    if len(ranks) % group_size != 0:
        raise ValueError(f"The world size ({len(ranks)}) must be divisible by '{group_size=}'")
    parts = [ranks[i:i + group_size] for i in range(0, len(ranks), group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options)


def _own_subgroup(group_size):
    """this rank's of those that new_subgroups() makes"""
    world = _get_default_group()
    if world.size() % group_size != 0:
        raise ValueError(f"The world size ({world.size()}) must be divisible by '{group_size=}'")
    start = world.rank() - world.rank() % group_size

    def make():
        return [start + i for i in range(group_size)]

    return _own_group(Ranks(group_size, make, make), world.rank() % group_size)


def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None):
    own = None
    for ranks in split_ranks:
        made = new_group([_group(parent_pg)._ranks[i] for i in ranks])
        if not _outside(made):
            own = made
    return own


def _index_in(group, global_rank, group_rank, default=0):
    """a rank of the group, given by its number in the job or in the group"""
    if group_rank is not None:
        if global_rank is not None:
            raise ValueError("Can't specify both a rank of the job and one of the group")
        return group_rank
    return get_group_rank(group, default if global_rank is None else global_rank)


# ---- collectives: they write into what they are given


def _exception_logger(function):
    """as PyTorch wraps them: what a call is given goes when the call has ended, the last first"""

    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class _CoalescingManager:
    def __init__(self):
        self.works = []

    def append(self, work):
        if work is not None:
            self.works.append(work)

    def wait(self):
        for work in self.works:
            work.wait()


class _CollOp:
    """a collective that is called with others"""

    def __init__(self, op, tensor, dst_tensor=None):
        self.op, self.tensor, self.dst_tensor = op, tensor, dst_tensor


_recorded = {}  # by group: what was called under the coalescing manager that is open


def _is_recorded(group, op, tensor, dst_tensor=None):
    calls = _recorded.get(_group(group))
    if calls is not None:
        calls.append(_CollOp(op, tensor, dst_tensor))
    return calls is not None


@contextmanager
def _coalescing_manager(group=None, device=None, async_ops=False):
    """collectives of one kind become one, which keeps what they work on; names die in the order they have here"""
    group = _group(group)
    op_list = _recorded.setdefault(group, [])
    if op_list:
        raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
    if device:
        group._start_coalescing(device)
    cm = _CoalescingManager()
    yield cm
    work = None
    op_list = _recorded.pop(group)
    if op_list:
        if op_list[0].dst_tensor is None:
            tensors = [op.tensor for op in op_list]
            work = group._run(tensors, tensors, async_ops, is_list=True, kind="all_reduce")
        else:
            inputs, outputs = [], []
            for op in op_list:
                inputs.append(op.tensor)
                outputs.append(op.dst_tensor)
            gathers = op_list[0].op is all_gather_into_tensor
            kind = "all_gather" if gathers else "reduce_scatter"
            work = group._run(inputs, outputs, async_ops or gathers, is_list=True, kind=kind)
    if device:
        work = group._end_coalescing(device)
    if async_ops:
        cm.append(work)
    elif work is not None:
        work.wait()


def _is_asynchronous(group, async_op):
    return async_op or group._together is not None


def _is_outside(group, name):
    if _outside(group):
        import warnings

        warnings.warn(f"Running {name} on global rank {get_rank()} which does not belong to the given group.")
        return True
    return False


def _run(kind, group, inputs, outputs, async_op, dense=()):
    group = checked(_group(group), dense)
    return group._run(inputs, outputs, _is_asynchronous(group, async_op), kind=kind)


@_exception_logger
def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    if _is_outside(group, "all_reduce") or _is_recorded(group, all_reduce, tensor):
        return None
    return _run("all_reduce", group, [tensor], [tensor], async_op, [tensor])


@_exception_logger
def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    if _is_outside(group, "all_reduce_coalesced"):
        return None
    work = _run("all_reduce", group, tensors, tensors, async_op)
    return work if work is None else work.get_future()


@_exception_logger
def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    if _is_outside(group, "broadcast"):
        return None
    group = _group(group)
    require_contiguous(group, [tensor])
    send_numbers(group, tensor, _index_in(group, src, group_src))
    return group._run([tensor], [tensor], _is_asynchronous(group, async_op), kind="broadcast")


@_exception_logger
def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    if _is_outside(group, "reduce"):
        return None
    _index_in(_group(group), dst, group_dst)
    return _run("reduce", group, [tensor], [tensor], async_op, [tensor])


@_exception_logger
def all_gather(tensor_list, tensor, group=None, async_op=False):
    if _is_outside(group, "all_gather"):
        return None
    group = checked(_group(group), [tensor], tensor_list)
    return group.allgather(tensor_list, tensor, _is_asynchronous(group, async_op))


@_exception_logger
def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    if _is_outside(group, "all_gather_into_tensor"):
        return None
    if output_tensor.dtype != input_tensor.dtype:
        raise TypeError("output tensor must have the same type as input tensor")
    if output_tensor.numel() != _group(group).size() * input_tensor.numel():
        raise ValueError("output tensor size must be equal to world_size times input tensor size")
    if _is_recorded(group, all_gather_into_tensor, input_tensor, output_tensor):
        return None
    return _run("all_gather", group, [input_tensor], [output_tensor], async_op, [input_tensor, output_tensor])


@_exception_logger
def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    if _is_outside(group, "reduce_scatter"):
        return None
    group = _group(group)
    return group.reduce_scatter(output, input_list, _is_asynchronous(group, async_op))


@_exception_logger
def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    if _is_outside(group, "reduce_scatter_tensor"):
        return None
    if output.dtype != input.dtype:
        raise TypeError("input tensor must be the same type as the output tensor.")
    if input.numel() != _group(group).size() * output.numel():
        raise ValueError("input tensor must be the same size as output size times world size")
    if _is_recorded(group, reduce_scatter_tensor, input, output):
        return None
    return _run("reduce_scatter", group, [input], [output], async_op)


_all_gather_base, _reduce_scatter_base = all_gather_into_tensor, reduce_scatter_tensor


@_exception_logger
def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    if _is_outside(group, "gather"):
        return None
    group = _group(group)
    written = gather_list if _check_list("gather", group, gather_list, _index_in(group, dst, group_dst)) else []
    asynchronous = _is_asynchronous(group, async_op)
    return checked(group, [tensor], written)._run([tensor], written, asynchronous, kind="gather")


@_exception_logger
def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    if _is_outside(group, "scatter"):
        return None
    group = _group(group)
    sends = _check_list("scatter", group, scatter_list, _index_in(group, src, group_src))
    return _run("scatter", group, [tensor], scatter_list if sends else [], async_op)  # NCCL's group keeps them so


def _check_list(name, group, tensors, root):
    if group.rank() != root:
        if tensors:
            raise ValueError(f"Argument ``{name}_list`` must NOT be specified on ranks that are not the root.")
        return False
    if not tensors:
        raise ValueError(f"Argument ``{name}_list`` must be specified on the root rank.")
    return True


@_exception_logger
def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    if _is_outside(group, "all_to_all"):
        return None
    return _run(
        "all_to_all", group, input_tensor_list, output_tensor_list, async_op,
        [*output_tensor_list, *input_tensor_list]
    )


@_exception_logger
def all_to_all_single(
    output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False
):
    if _is_outside(group, "all_to_all_single"):
        return None
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes and sum(sizes) != tensor.size(0):
            raise RuntimeError("Split sizes doesn't match total dim 0 size")
    receive_counts(_group(group), input, None if output_split_sizes or input_split_sizes else output)
    return _run("all_to_all", group, [input], [output], async_op, [input, output])


@_exception_logger
def barrier(group=None, async_op=False, device_ids=None):
    if _is_outside(group, "barrier"):
        return None
    group = _group(group)
    if "nccl" not in group._backend:
        return None
    index = device_ids[0] if device_ids else _barrier_device(group)
    return group.barrier(torch.device("cuda", index), async_op)


def _barrier_device(group):
    return torch.cuda.current_device() if group.bound_device_id is None else group.bound_device_id.index


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    _C.refuse("monitored_barrier() works on gloo groups only: not modelled", "use barrier()")


# ---- from one rank to another


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    if _is_outside(group, "isend"):
        return None
    return _group(group)._peer(tensor, _index_in(_group(group), dst, group_dst, None), "send")


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    if _is_outside(group, "irecv"):
        return None
    group = _group(group)
    peer = 0 if src is None and group_src is None else _index_in(group, src, group_src)
    return group._peer(tensor, peer, "receive")


@_exception_logger
def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


@_exception_logger
def recv(tensor, src=None, group=None, tag=0, group_src=None):
    work = irecv(tensor, src, group, tag, group_src)
    if work is not None:
        work.wait()
    return src if src is not None else 0


class P2POp:
    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        self.op, self.tensor, self.group, self.tag = op, tensor, _group(group), tag
        self.group_peer = _index_in(self.group, peer, group_peer)
        self.peer = get_global_rank(self.group, self.group_peer)


@_exception_logger
def batch_isend_irecv(p2p_op_list):
    if not p2p_op_list:
        raise ValueError("p2p_op_list must not be empty")
    first = p2p_op_list[0]
    with _coalescing_manager(first.group, first.tensor.device, async_ops=True) as manager:
        for each in p2p_op_list:
            each.group._peer(each.tensor, each.group_peer, "send" if each.op is isend else "receive")
    return manager.works


def _make_nccl_premul_sum(factor):
    return ReduceOp.PREMUL_SUM


def supports_complex(reduceOp):
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PREMUL_SUM)


def _set_pg_timeout(timeout, group=None):
    """nobody waits for a rank here"""
