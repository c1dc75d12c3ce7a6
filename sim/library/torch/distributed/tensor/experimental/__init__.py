import torch._C as _C
from torch.distributed.tensor.experimental._context_parallel._attention import context_parallel


def local_map(func=None, *args, **kwargs):
    _C.refuse("local_map is not modelled", "take this rank's parts: x.to_local(), and DTensor.from_local()")


def implicit_replication():
    _C.refuse("implicit_replication is not modelled", "make each tensor a DTensor: distribute_tensor(x, mesh)")


def register_sharding(op):
    _C.refuse("rules of one's own for DTensors are not modelled", "take this rank's part: x.to_local()")
