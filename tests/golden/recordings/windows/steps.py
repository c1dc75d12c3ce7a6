# Recording begins after the model is there, and is written before it goes.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
torch.cuda.memory._record_memory_history(context=None, max_entries=100_000)
for step in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(64, 256, device="cuda")), torch.zeros(64, dtype=torch.long, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.memory._dump_snapshot("steps.pickle")
torch.cuda.memory._record_memory_history(enabled=None)
del model, optimizer, loss
torch.cuda.empty_cache()
