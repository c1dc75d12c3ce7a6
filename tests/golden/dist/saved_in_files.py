"""States of a sharded model saved in files and read again, by one rank without the others."""
import os
import tempfile
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 700), nn.GELU(), nn.Linear(700, 256)) for _ in range(3)]).cuda()
for block in model:
    fully_shard(block)
fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


class App:
    def state_dict(self):
        of_model, of_optimizer = get_state_dict(model, optimizer)
        return {"model": of_model, "optimizer": of_optimizer}

    def load_state_dict(self, states):
        set_state_dict(
            model, optimizer, model_state_dict=states["model"], optim_state_dict=states["optimizer"]
        )


def step():
    x = torch.randn(16, 256, device="cuda")
    F.mse_loss(model(x), x).backward()
    optimizer.step()
    optimizer.zero_grad()


step()
folder = tempfile.mkdtemp()
dcp.save({"app": App()}, checkpoint_id=folder + "/a", no_dist=True)
step()
dcp.save({"model": get_model_state_dict(model), "at": 2}, storage_writer=dcp.FileSystemWriter(folder + "/b"), no_dist=True)
step()
states = {"model": get_model_state_dict(model), "at": 0}
dcp.load(states, checkpoint_id=folder + "/b", no_dist=True)
torch.empty(100, device="cuda")
del states
step()
dist.destroy_process_group()
