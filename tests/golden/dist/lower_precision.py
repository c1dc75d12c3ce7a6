"""DistributedDataParallel in low precision, of a model that returns more than the loss, and what libraries do to optimizers."""

import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.nn.parallel import DistributedDataParallel
from torch.nn.parallel.distributed import _MixedPrecision

dist.init_process_group("nccl")
device = torch.device("cuda", dist.get_rank())
torch.cuda.set_device(device)
kind = sys.argv[1]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(256), nn.Linear(256, 1024), nn.Linear(1024, 256)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = nn.Sequential(*[Block() for _ in range(3)]), nn.Linear(256, 40)

    def forward(self, x):
        logits = self.head(self.blocks(x))
        low = torch.softmax(logits.half(), -1)
        return {"loss": logits.float().logsumexp(-1).mean(), "logits": low.float(), "probabilities": low}


def by_address(optimizer, model, shard):
    """the optimizer's parameters are changed for what sharding made of them, found by where they lay"""
    lay = {p.data_ptr(): name for name, p in model.named_parameters()}
    assert len(lay) == len(list(model.parameters()))
    for group in optimizer.param_groups:
        group["params"] = [p.data_ptr() for p in group["params"]]
    shard(model)
    new = dict(model.named_parameters())
    for group in optimizer.param_groups:
        group["params"] = [new[lay[address]] for address in group["params"]]


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
if kind == "sharded":
    by_address(optimizer, model, lambda m: [fully_shard(part) for part in [*m.blocks, m]])
elif kind == "flat":
    model = FullyShardedDataParallel(
        model,
        auto_wrap_policy=ModuleWrapPolicy([Block]),
        use_orig_params=True,
        device_id=device,
        param_init_fn=lambda m: m.to_empty(device=device, recurse=False),
    )
    for unit in FullyShardedDataParallel.fsdp_modules(model):
        assert unit._has_params and unit._flat_param.dtype == torch.float32
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
else:
    reduced = torch.float32 if kind == "reduced" else torch.bfloat16
    model = DistributedDataParallel(
        model.to(device),
        device_ids=[device.index],
        bucket_cap_mb=2,
        mixed_precision=_MixedPrecision(torch.bfloat16, reduced) if kind != "unused" else None,
        gradient_as_bucket_view=kind == "views",
        find_unused_parameters=kind == "unused",
    )
for step in range(3):
    model(torch.randn(64, 256, device=device))["loss"].backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=kind != "views")
