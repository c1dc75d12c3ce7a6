"""A residual net, trained under fp16 autocast and evaluated without gradients, twice"""
import torch
import torch.nn.functional as F

from nets import ResNet
model = ResNet(classes=20, width=32).cuda()
model = torch.compile(model)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    model.train()
    for step in range(2):
        x, y = torch.randn(16, 3, 64, 64, device="cuda"), torch.randint(0, 20, (16,), device="cuda")
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        for step in range(2):
            out = model(torch.randn(16, 3, 64, 64, device="cuda"))
