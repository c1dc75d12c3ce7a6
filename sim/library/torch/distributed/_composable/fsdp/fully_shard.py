from torch.distributed.fsdp import FSDPModule, UnshardHandle, fully_shard, register_fsdp_forward_method
