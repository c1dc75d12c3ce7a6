# Recording begins before anything and is written before everything goes; two files are written.
import torch
from torch import nn

torch.cuda.memory._record_memory_history(context=None, max_entries=100_000)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(64, 256, device="cuda")), torch.zeros(64, dtype=torch.long, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == 1:
        torch.cuda.memory._dump_snapshot("two_steps.pickle")
torch.cuda.memory._dump_snapshot("whole.pickle")
torch.cuda.memory._record_memory_history(enabled=None)
del model, optimizer, loss
torch.cuda.empty_cache()
