import torch._C as _C


def context_parallel(mesh, *, buffers=None, buffer_seq_dims=None, no_restore_buffers=None):
    _C.refuse("context parallelism (ring attention) is not modelled", "let each rank have whole sequences")


def local_map(func=None, *args, **kwargs):
    _C.refuse("local_map is not modelled", "take this rank's parts: x.to_local(), and DTensor.from_local()")


def implicit_replication():
    _C.refuse("implicit_replication is not modelled", "make each tensor a DTensor: distribute_tensor(x, mesh)")


def register_sharding(op):
    _C.refuse("rules of one's own for DTensors are not modelled", "take this rank's part: x.to_local()")
