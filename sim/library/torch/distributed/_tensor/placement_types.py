from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
