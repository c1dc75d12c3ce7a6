# The name under which torch.distributed.tensor was first published.
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor import empty, full, ones, rand, randn, zeros
