"""What `train.parallel: {ep: ...}` of experts.yaml stands for: experts on the ranks that share them, tokens sent there and brought back."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed._functional_collectives import all_to_all_single_autograd
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

WIDTH, LENGTH, VOCAB, BATCH = 128, 64, 1000, 4


class Experts(nn.Module):
    """each has the same number of rows: (experts, rows, width)"""

    def __init__(self, count, width):
        super().__init__()
        self.up = nn.Parameter(torch.randn(count, width, 2 * width) * 0.02)
        self.down = nn.Parameter(torch.randn(count, 2 * width, width) * 0.02)

    def forward(self, x):
        return torch.bmm(nn.functional.silu(torch.bmm(x, self.up)), self.down)


class Block(nn.Module):
    def __init__(self, width, count, each):
        super().__init__()
        self.norm, self.gate = nn.LayerNorm(width), nn.Linear(width, count, bias=False)
        self.experts = Experts(count, width)
        self.count, self.each = count, each

    def forward(self, x):
        rows = self.norm(x).flatten(0, 1)
        share, chosen = self.gate(rows).softmax(-1).topk(2)
        capacity = -(-2 * rows.shape[0] * self.each // self.count)
        chosen = chosen.flatten()
        place = (nn.functional.one_hot(chosen, self.count).cumsum(0) - 1).gather(1, chosen[:, None])[:, 0]
        place = torch.where(place < capacity, chosen * capacity + place, self.count * capacity)
        sent = rows.new_zeros(self.count * capacity + 1, rows.shape[1]).index_add(0, place, rows.repeat_interleave(2, 0))
        made = self.experts(sent[:-1].view(self.count, capacity, -1)).flatten(0, 1)
        made = torch.cat([made, made.new_zeros(1, made.shape[1])])[place] * share.flatten()[:, None]
        return x + made.view(rows.shape[0], 2, -1).sum(1).view(x.shape)


class Net(nn.Module):
    def __init__(self, width=WIDTH, depth=3, count=8):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.blocks = nn.ModuleList(Block(width, count, 1) for _ in range(depth))
        self.head = nn.Linear(width, VOCAB)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def spread_experts(experts, ep, rank, group):
    for name, param in list(experts.named_parameters(recurse=False)):
        own = param.shape[0] // ep
        setattr(experts, name, nn.Parameter(param.detach().narrow(0, rank * own, own).clone()))

    def send(module, args):
        count, rows, width = args[0].shape
        got = all_to_all_single_autograd(args[0], None, None, group)
        return (got.view(ep, count // ep, rows, width).transpose(0, 1).reshape(count // ep, ep * rows, width),)

    def bring(module, args, out):
        count, rows, width = out.shape
        out = out.view(count, ep, rows // ep, width).transpose(0, 1).reshape(ep * count, rows // ep, width)
        return all_to_all_single_autograd(out, None, None, group)

    experts.register_forward_pre_hook(send)
    experts.register_forward_hook(bring)


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_node_local_rank())
    ep, world = int(sys.argv[1]), dist.get_world_size()
    precision = torch.bfloat16 if sys.argv[2] == "bf16" else None
    options = {"mp_policy": MixedPrecisionPolicy(param_dtype=precision, reduce_dtype=torch.float32)} if precision else {}
    mesh = init_device_mesh("cuda", (world // ep, ep), mesh_dim_names=("shard", "ep"))
    model = Net()
    over = mesh["shard", "ep"]._flatten("shard_ep")
    for block in model.blocks:
        spread_experts(block.experts, ep, mesh["ep"].get_local_rank(), mesh["ep"].get_group())
        fully_shard(block.experts, mesh=mesh["shard"], reshard_after_forward=True, **options)
        block.experts.set_gradient_divide_factor(world)
    for block in model.blocks:
        fully_shard(block, mesh=over, reshard_after_forward=True, **options)
    fully_shard(model, mesh=over, reshard_after_forward=True, **options)
    model = model.to("cuda")
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(3):
        opt.zero_grad(set_to_none=True)
        x = torch.zeros(BATCH, LENGTH, dtype=torch.long).to("cuda")
        y = torch.zeros(BATCH, LENGTH, dtype=torch.long).to("cuda")
        out = model(x)
        loss = nn.functional.cross_entropy(out.flatten(0, 1).float(), y.flatten())
        loss.backward()
        opt.step()
        loss.item()


if __name__ == "__main__":
    main()
