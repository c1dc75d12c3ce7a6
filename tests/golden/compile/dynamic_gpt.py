"""A GPT of two blocks, `dynamic=True`: one graph for five lengths."""
import torch
import torch.nn.functional as F

from nets import GPT

model = GPT(layers=2, dropout=0.0).cuda()
compiled = torch.compile(model, dynamic=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for length in (256, 192, 320, 256, 64):
    x = torch.randint(0, 3000, (8, length), device="cuda")
    loss = F.cross_entropy(compiled(x).flatten(0, 1), x.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
