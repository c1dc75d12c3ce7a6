from torch.distributed.fsdp._fully_shard._fsdp_api import (
    CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy,
)
from torch.distributed.fsdp._fully_shard._fully_shard import (
    FSDPModule, UnshardHandle, fully_shard, register_fsdp_forward_method,
)
from torch.distributed.fsdp.api import (
    BackwardPrefetch, CPUOffload, FullOptimStateDictConfig, FullStateDictConfig,
    LocalOptimStateDictConfig, LocalStateDictConfig, MixedPrecision, OptimStateDictConfig,
    ShardedOptimStateDictConfig, ShardedStateDictConfig, ShardingStrategy, StateDictConfig,
    StateDictType,
)
from torch.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel
