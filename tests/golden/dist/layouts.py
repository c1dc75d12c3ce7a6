"""What `train.parallel` of layouts.yaml stands for: stages of a pipeline, sequences in parts, over and under sharded parameters."""

import copy
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import get_schedule_class
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.attention import SDPBackend, sdpa_kernel

WIDTH, LENGTH, VOCAB, BATCH = 128, 64, 1000, 8


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, -1, 32).transpose(1, 2) for z in self.qkv(self.norm(x)).chunk(3, dim=-1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(nn.functional.gelu(self.up(x)))


class Embed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.word, self.place = nn.Embedding(VOCAB, width), nn.Embedding(LENGTH, width)

    def forward(self, x):
        return self.word(x) + self.place(torch.arange(x.shape[1], device=x.device))


class Net(nn.Module):
    def __init__(self, width=WIDTH, depth=5):
        super().__init__()
        self.embed = Embed(width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def loss_of(out, y):
    return nn.functional.cross_entropy(out.flatten(0, 1).float(), y.flatten())


def shard(model, mesh, **options):
    for block in model.blocks:
        fully_shard(block, mesh=mesh, **options)
    fully_shard(model, mesh=mesh, **options)


def tokens():
    return torch.zeros(BATCH, LENGTH, dtype=torch.long).to("cuda")


def stage_of(model, stage, count):
    depth = len(model.blocks)
    if stage > 0:
        model.embed = nn.Identity()
    if stage < count - 1:
        model.norm = model.head = nn.Identity()
    model.blocks = model.blocks[stage * depth // count : (stage + 1) * depth // count]
    return model


def pipelined(kind, per, micros, tp, precision, is_v=False):
    """stages of the blocks; what is left of the ranks shards them"""
    pp, world = 2, dist.get_world_size()
    shards = world // (pp * tp)
    sizes = {name: size for name, size in {"pp": pp, "shard": shards, "tp": tp}.items() if size > 1 or name == "shard"}
    mesh = init_device_mesh("cuda", tuple(sizes.values()), mesh_dim_names=tuple(sizes))
    model, count, rank = Net(), pp * per, mesh["pp"].get_local_rank()
    own = [rank, count - 1 - rank] if is_v else [rank + pp * i for i in range(per)]
    parts = [stage_of(copy.deepcopy(model), i, count) for i in own]
    options = {"mp_policy": MixedPrecisionPolicy(param_dtype=precision, reduce_dtype=torch.float32)} if precision else {}
    for part in parts:
        if tp > 1:
            parallelize_module(part, mesh["tp"], {"blocks.*.up": ColwiseParallel(), "blocks.*.down": RowwiseParallel()})
        if shards * tp > 1 or precision:
            shard(part, mesh["shard"], reshard_after_forward=True, **options)
    model = nn.ModuleList(parts).to("cuda")
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    rows, dtype = BATCH // micros, precision or torch.float32

    def between(i):
        if i == 0:
            return torch.zeros(rows, LENGTH, dtype=torch.long, device="meta")
        return torch.zeros(rows, LENGTH, VOCAB if i == count else WIDTH, dtype=dtype, device="meta")

    device = torch.device("cuda", torch.cuda.current_device())
    stages = [
        PipelineStage(part, i, count, device, input_args=(between(i),), output_args=(between(i + 1),), group=mesh.get_group("pp"))
        for part, i in zip(parts, own)
    ]
    schedule = get_schedule_class(kind)(stages if per > 1 else stages[0], n_microbatches=micros, loss_fn=loss_of)
    first, last = any(s.is_first for s in stages), any(s.is_last for s in stages)
    for _ in range(3):
        opt.zero_grad(set_to_none=True)
        x = tokens()
        y = tokens()
        losses = [] if last else None
        if first:
            schedule.step(x, target=y if last else None, losses=losses, return_outputs=False)
        else:
            schedule.step(target=y if last else None, losses=losses, return_outputs=False)
        opt.step()
        if last:
            torch.stack(losses).mean().item()


def in_sequence():
    """each sequence over two ranks, which share the parameters too"""
    mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2), mesh_dim_names=("shard", "cp"))
    model = Net()
    options = {"mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
    shard(model, mesh["shard", "cp"]._flatten("shard_cp"), reshard_after_forward=True, **options)
    model = model.to("cuda")
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(3):
        opt.zero_grad(set_to_none=True)
        x = tokens()
        y = tokens()
        with (
            context_parallel(mesh["cp"], buffers=[x, y], buffer_seq_dims=[1, 1], no_restore_buffers={x, y}),
            sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]),
        ):
            out = model(x)
            loss = loss_of(out, y)
            loss.backward()
        opt.step()
        loss.item()


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_node_local_rank())
    kind = sys.argv[1]
    if kind == "sequence":
        in_sequence()
    elif kind == "sharded":
        pipelined("1F1B", 1, 4, 1, torch.bfloat16)
    elif kind == "deep":
        pipelined("GPipe", 1, 2, 2, torch.bfloat16)
    elif kind == "interleaved":
        pipelined("Interleaved1F1B", 2, 4, 1, None)
    elif kind == "zbv":
        pipelined("ZBVZeroBubble", 2, 4, 1, None, is_v=True)


if __name__ == "__main__":
    main()
