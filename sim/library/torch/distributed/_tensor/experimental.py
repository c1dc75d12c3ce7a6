from torch.distributed.tensor.experimental import context_parallel, implicit_replication, local_map, register_sharding
