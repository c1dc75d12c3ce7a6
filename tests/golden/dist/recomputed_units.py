"""FullyShardedDataParallel round layers of recomputed blocks, low gradients that are kept, and parameters on the host."""

import functools
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing
from torch.distributed.fsdp import CPUOffload, MixedPrecision
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 128), nn.Linear(128, 64)

    def forward(self, x):
        return x + self.down(self.up(x).relu())


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    keeps_low = "low" in sys.argv
    model = FSDP(
        nn.Sequential(nn.Linear(20, 64), Block(), Block(), nn.Linear(64, 7)),
        auto_wrap_policy=functools.partial(size_based_auto_wrap_policy, min_num_params=1000),
        mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, keep_low_precision_grads=keeps_low),
        device_id=torch.cuda.current_device(),
        cpu_offload=CPUOffload(keeps_low),
        use_orig_params=not keeps_low,
    )
    apply_activation_checkpointing(model, check_fn=lambda m: isinstance(m, Block))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(torch.randn(16, 20, device="cuda")).float().sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=not keeps_low)


main()
