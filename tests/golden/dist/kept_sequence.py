"""Sequences in parts, the ring's attention kept by the policies of checkpoints; a mesh of flattened dimensions beside another;
optimizers that step as soon as a part has its gradient; the mean of a loss, read at once."""
import os

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.experimental import context_parallel
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import create_selective_checkpoint_contexts


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(128, 384, bias=False), nn.Linear(128, 128, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = [part.view(b, t, 4, 32).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(out.transpose(1, 2).contiguous().view(b, t, -1))


def attention_alone():
    return create_selective_checkpoint_contexts([torch.ops.aten._scaled_dot_product_flash_attention.default])


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (2, dist.get_world_size() // 4, 2), mesh_dim_names=("replicate", "shard", "cp"))
mesh["shard", "cp"]._flatten(mesh_dim_name="shard_cp")
mesh["shard"]._flatten(mesh_dim_name="data")
model = nn.Sequential(*[Block() for _ in range(3)]).cuda().bfloat16()
for i in range(3):
    model[i] = checkpoint_wrapper(model[i], context_fn=attention_alone, preserve_rng_state=False)
    fully_shard(model[i], mesh=mesh["replicate", "shard_cp"])
fully_shard(model, mesh=mesh["replicate", "shard_cp"])
optimizers = {p: torch.optim.AdamW([p], foreach=True) for p in model.parameters()}


def step_at_once(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for parameter in model.parameters():
    parameter.register_post_accumulate_grad_hook(step_at_once)
for step in range(3):
    x = torch.randn(2, 256, 128, dtype=torch.bfloat16).cuda()
    with context_parallel(mesh["cp"], buffers=[x], buffer_seq_dims=[1], no_restore_buffers={x}):
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
            loss = model(x).float().square().mean()
            loss.backward()
    one = torch.tensor(1.0 + step).to("cuda")
    funcol.all_reduce(one, reduceOp=dist.ReduceOp.AVG.name, group=mesh["data"]).item()
dist.barrier()
dist.destroy_process_group()
