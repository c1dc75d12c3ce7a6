"""batches that are cut out of one tensor, the last of them smaller, trained and evaluated"""
import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(
    nn.Linear(64, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 10)
).cuda()
compiled = torch.compile(model)
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
data = torch.randn(1100, 64, device="cuda")
classes = torch.randint(0, 10, (1100,), device="cuda")
for epoch in range(2):
    for k in range(0, 1100, 256):
        loss = F.nll_loss(F.log_softmax(compiled(data[k : k + 256]), 1), classes[k : k + 256])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.inference_mode():
        accuracy = (compiled(data).argmax(1) == classes).float().mean().item()
    model.train()
