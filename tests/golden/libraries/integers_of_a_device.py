# Integers that a device draws decide branches: one draw stands for them.
import torch

tokens = torch.randint(2, 500, (4, 12), device="cuda")
mask = tokens != 0
if mask.all():
    x = torch.randn(64, 64, device="cuda")
else:
    x = torch.randn(128, 64, device="cuda")
few = torch.randint(0, 4, (4, 12), device="cuda")
if (few != 0).all():
    y = torch.randn(256, 64, device="cuda")
else:
    y = torch.randn(512, 64, device="cuda")
if torch.rand(1, device="cuda") < 0.5:
    z = torch.randn(1024, 64, device="cuda")
else:
    z = torch.randn(2048, 64, device="cuda")
if torch.rand(4, device="cuda").max() > 0.3:
    w = x.clamp(0, torch.tensor(3.0))
chances = torch.empty(6, device="cuda").uniform_(0, 1)
kept = [torch.randn(512 * (i + 1), device="cuda") for i, drops in enumerate(chances < 0.4) if not drops]
