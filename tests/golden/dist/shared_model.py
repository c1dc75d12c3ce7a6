"""What `train.parallel` of shared_model.yaml stands for: a mesh of two dimensions, a plan, blocks sharded one by one, bf16."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=256, depth=3):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def main():
    tp, offload = (1, True) if "offload" in sys.argv else (2, False)
    model = Net()
    model.train()
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_node_local_rank())
    sizes = {"shard": dist.get_world_size() // tp, "tp": tp}
    sizes = {name: size for name, size in sizes.items() if size > 1 or name == "shard"}
    mesh = init_device_mesh("cuda", tuple(sizes.values()), mesh_dim_names=tuple(sizes))
    if tp > 1:
        parallelize_module(model, mesh["tp"], {"blocks.*.up": ColwiseParallel(), "blocks.*.down": RowwiseParallel()})
    options = {"mesh": mesh["shard"], "reshard_after_forward": not offload}
    if offload:
        options["offload_policy"] = CPUOffloadPolicy()
    else:
        options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, **options)
    fully_shard(model, **options)
    if not offload:
        model = model.to("cuda")
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(3):
        opt.zero_grad(set_to_none=True)
        x = torch.zeros(8, 64, dtype=torch.long).to("cuda")
        y = torch.zeros(8, 64, dtype=torch.long).to("cuda")
        out = model(x)
        loss = nn.functional.cross_entropy(out.view(-1, 1000), y.view(-1))
        loss.backward()
        opt.step()
        loss.item()


if __name__ == "__main__":
    main()
