from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import _random
from torch.distributed.tensor._api import DTensor, distribute_module, distribute_tensor
from torch.distributed.tensor._dtensor_spec import DTensorSpec
from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
from torch.distributed.tensor._factories import empty, full, ones, rand, randn, zeros
