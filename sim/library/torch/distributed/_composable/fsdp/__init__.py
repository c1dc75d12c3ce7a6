from torch.distributed._composable.fsdp.fully_shard import FSDPModule, UnshardHandle, fully_shard
from torch.distributed._composable.fsdp.fully_shard import register_fsdp_forward_method
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
