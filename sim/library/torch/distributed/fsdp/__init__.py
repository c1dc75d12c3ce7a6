from torch.distributed.fsdp._fully_shard._fsdp_api import (
    CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy,
)
from torch.distributed.fsdp._fully_shard._fully_shard import (
    FSDPModule, UnshardHandle, fully_shard, register_fsdp_forward_method,
)
