from torch.distributed._buckets import (
    _broadcast_coalesced, _bucket_assignment, _flatten, _verify_params_across_processes,
)
from torch.distributed._nccl import ProcessGroup, Work
from torch.distributed._objects import (
    all_gather_object, broadcast_object_list, gather_object, recv_object_list, scatter_object_list, send_object_list,
)
from torch.distributed._reducer import _Reducer
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.distributed_c10d import (
    Backend, FileStore, GroupMember, HashStore, P2POp, ReduceOp, Store, TCPStore,
    _DEFAULT_FIRST_BUCKET_BYTES, _all_gather_base, _coalescing_manager, _get_default_group,
    _make_nccl_premul_sum, _reduce_scatter_base, all_gather, all_gather_into_tensor, all_reduce,
    all_reduce_coalesced, all_to_all, all_to_all_single, barrier, batch_isend_irecv, broadcast,
    destroy_process_group, gather, get_backend, get_default_backend_for_device, get_global_rank, get_group_rank,
    get_node_local_rank, get_pg_count, get_process_group_ranks, get_rank, get_world_size, group,
    init_process_group, irecv, is_available, is_backend_available, is_gloo_available,
    is_initialized, is_mpi_available, is_nccl_available, is_torchelastic_launched,
    is_ucc_available, is_xccl_available, isend, monitored_barrier, new_group, new_subgroups,
    new_subgroups_by_enumeration, recv, reduce, reduce_scatter, reduce_scatter_tensor, scatter,
    send, split_group,
)
