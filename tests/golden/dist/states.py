"""States of a sharded model and its optimizer, with a shared parameter: taken, sent by rank 0, loaded again."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.fsdp import fully_shard


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.body, self.head = nn.Embedding(101, 32), nn.Linear(32, 32), nn.Linear(32, 101, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.body(self.embed(x)))


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    model = fully_shard(Net().cuda())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model(torch.zeros(4, 8, dtype=torch.long, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    whole = StateDictOptions(full_state_dict=True)
    moments = get_optimizer_state_dict(model, optimizer, options=whole)
    set_optimizer_state_dict(model, optimizer, moments, options=whole)
    del moments
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    set_model_state_dict(model, state, options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True))


main()
