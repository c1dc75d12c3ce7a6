from enum import Enum, auto
from torch import nn


class ShardingStrategy(Enum):
    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class MixedPrecision:
    def __init__(
        self, param_dtype=None, reduce_dtype=None, buffer_dtype=None, keep_low_precision_grads=False,
        cast_forward_inputs=False, cast_root_forward_inputs=True, _module_classes_to_ignore=None
    ):
        self.param_dtype, self.reduce_dtype, self.buffer_dtype = param_dtype, reduce_dtype, buffer_dtype
        self.keep_low_precision_grads, self.cast_forward_inputs = keep_low_precision_grads, cast_forward_inputs
        self.cast_root_forward_inputs = cast_root_forward_inputs
        left = (nn.modules.batchnorm._BatchNorm,) if _module_classes_to_ignore is None else _module_classes_to_ignore
        self._module_classes_to_ignore = left


class CPUOffload:
    def __init__(self, offload_params=False):
        self.offload_params = offload_params


class StateDictType(Enum):
    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class StateDictConfig:
    def __init__(self, offload_to_cpu=False):
        self.offload_to_cpu, self.rank0_only = offload_to_cpu, False


class FullStateDictConfig(StateDictConfig):
    def __init__(self, offload_to_cpu=False, rank0_only=False):
        super().__init__(offload_to_cpu)
        self.rank0_only = rank0_only


class ShardedStateDictConfig(StateDictConfig):
    pass


class LocalStateDictConfig(StateDictConfig):
    pass


class OptimStateDictConfig:
    def __init__(self, offload_to_cpu=True):
        self.offload_to_cpu, self.rank0_only = offload_to_cpu, False


class FullOptimStateDictConfig(OptimStateDictConfig):
    def __init__(self, offload_to_cpu=True, rank0_only=False):
        super().__init__(offload_to_cpu)
        self.rank0_only = rank0_only


class ShardedOptimStateDictConfig(OptimStateDictConfig):
    def __init__(self, offload_to_cpu=True, _use_dtensor=False):
        super().__init__(offload_to_cpu)


class LocalOptimStateDictConfig(OptimStateDictConfig):
    def __init__(self, offload_to_cpu=False):
        super().__init__(offload_to_cpu)


class StateDictSettings:
    def __init__(self, state_dict_type, state_dict_config, optim_state_dict_config):
        self.state_dict_type, self.state_dict_config = state_dict_type, state_dict_config
        self.optim_state_dict_config = optim_state_dict_config
