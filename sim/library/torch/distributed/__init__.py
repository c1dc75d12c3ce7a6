from torch.distributed._reducer import _Reducer
from torch.distributed.distributed_c10d import (
    GroupMember, HashStore, ReduceOp, _DEFAULT_FIRST_BUCKET_BYTES, _broadcast_coalesced,
    _bucket_assignment, _flatten, _get_default_group, _verify_params_across_processes, all_gather,
    all_reduce, barrier, broadcast, destroy_process_group, get_backend, get_rank, get_world_size,
    group, init_process_group, is_available, is_initialized, is_nccl_available, reduce,
)
