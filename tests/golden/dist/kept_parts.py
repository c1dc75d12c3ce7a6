"""Tensor parallelism under fully_shard, whose block's checkpoint keeps some operators' results: operators on DTensors and
collectives are what its policy is asked about. A gradient that is expanded goes from rows to columns."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel
from torch.distributed.tensor.parallel import parallelize_module
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

KEPT = {
    torch.ops.aten.mm.default,
    torch.ops.aten._scaled_dot_product_flash_attention.default,
    torch.ops._c10d_functional.reduce_scatter_tensor.default,
}


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(x) * self.weight


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = [nn.Linear(128, 128, bias=False) for _ in range(4)]

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = [w(x).view(b, t, -1, 32).transpose(1, 2) for w in (self.wq, self.wk, self.wv)]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.transpose(1, 2).contiguous().view(b, t, -1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention, self.norm2 = Norm(128), Attention(), Norm(128)
        self.ff = nn.Sequential(nn.Linear(128, 384, bias=False), nn.SiLU(), nn.Linear(384, 128, bias=False))

    def forward(self, x):
        h = x + self.attention(self.norm(x))
        return h + self.ff(self.norm2(h))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.block, self.last = nn.Embedding(512, 128), Block(), nn.Linear(128, 128)

    def forward(self, tokens):
        return self.last(self.block(self.embedding(tokens)))


def every_second():
    counts = {False: 0, True: 0}

    def policy(ctx, op, *args, **kwargs):
        if op == torch.ops.aten.mm.default:
            counts[ctx.is_recompute] += 1
        kept = op in KEPT and not (op == torch.ops.aten.mm.default and counts[ctx.is_recompute] % 2 == 0)
        return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2), mesh_dim_names=("dp", "tp"))
model = Model().cuda()
whole = PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),))
parallelize_module(model, mesh["tp"], {
    "embedding": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
    "block.norm": SequenceParallel(), "block.norm2": SequenceParallel(), "block.attention": whole, "block.ff": whole,
    **{f"block.attention.w{x}": ColwiseParallel() for x in "qkv"}, "block.ff.0": ColwiseParallel(),
    "block.attention.wo": RowwiseParallel(output_layouts=Shard(1)), "block.ff.2": RowwiseParallel(output_layouts=Shard(1)),
    "last": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(1)),
})  # fmt: skip
model.block = checkpoint_wrapper(model.block, context_fn=every_second, preserve_rng_state=False)
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
fully_shard(model.block, mesh=mesh["dp"], mp_policy=policy)
fully_shard(model, mesh=mesh["dp"], mp_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(2):
    tokens = torch.randint(0, 512, (4, 256), device="cuda")
    model(tokens).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
with torch.no_grad():  # no policy is asked
    model(tokens)
dist.barrier()
dist.destroy_process_group()
