"""Two steps of FullyShardedDataParallel, a policy that wraps layers, mixed precision, and a full state dict on the host."""

import functools

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullStateDictConfig, MixedPrecision, StateDictType
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    layer = nn.TransformerEncoderLayer(128, 4, 300, dropout=0.1, batch_first=True)
    model = nn.Sequential(nn.Embedding(999, 128), nn.TransformerEncoder(layer, 3), nn.Linear(128, 999))
    model = FSDP(
        model,
        auto_wrap_policy=functools.partial(
            transformer_auto_wrap_policy, transformer_layer_cls={nn.TransformerEncoderLayer}
        ),
        mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16),
        device_id=torch.cuda.current_device(),
        use_orig_params=True,
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(2):
        tokens = torch.randint(0, 999, (4, 64), device="cuda")
        loss = nn.functional.cross_entropy(model(tokens).float().flatten(0, 1), tokens.flatten())
        loss.backward()
        model.clip_grad_norm_(1.0)
        optimizer.step()
        optimizer.zero_grad()
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(True, True)):
        model.state_dict()


main()
