"""A model saved whole and loaded again: what it holds, shared weights and buffers, where a function says that storages go."""

import pickle

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(500, 64)
        self.rows = nn.Linear(64, 64, bias=False)
        self.norm = nn.BatchNorm1d(64)
        self.out = nn.Linear(64, 500)
        self.out.weight = self.words.weight
        self.register_buffer("scale", torch.full((64,), 0.5))
        self.kept = torch.zeros(300, device="cuda")
        self.sizes = {"words": 500, "parts": [3, 4]}

    def forward(self, x):
        return self.out(self.norm(self.rows(self.words(x))) * self.scale)


def step(model, optimizer):
    ids = torch.randint(0, 500, (32,), device="cuda")
    loss = nn.functional.cross_entropy(model(ids), ids)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


model = Tagger().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
step(model, optimizer)
torch.save(model, "model.pt")
try:
    torch.load("model.pt")
except pickle.UnpicklingError as error:
    print("Tagger was not an allowed global" in str(error))
kinds = [Tagger, nn.Embedding, nn.Linear, nn.BatchNorm1d]
with torch.serialization.safe_globals(kinds):
    second = torch.load("model.pt")
print(second.out.weight is second.words.weight, second.scale.device, second.sizes)
on_host = torch.load("model.pt", weights_only=False, map_location=lambda storage, location: storage)
print(on_host.rows.weight.device, on_host.training, on_host.norm.num_batches_tracked.device)
with open("all.pt", "wb") as file:
    torch.save({"net": model.eval(), "optimizer": optimizer.state_dict(), "steps": 1}, file)
del model, optimizer
with open("all.pt", "rb") as file:
    state = torch.load(file, weights_only=False, map_location=lambda storage, location: storage.cuda(0))
net = state["net"]
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
optimizer.load_state_dict(state["optimizer"])
print(net.training, state["steps"])
step(net.train(), optimizer)
step(second, torch.optim.SGD(second.parameters(), lr=0.1))
on_host.cuda()
