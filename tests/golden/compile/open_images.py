"""Two networks of PyTorch's own modules, which share their code: the second is compiled for images of any size."""

import torch
import torch.nn as nn

generator = nn.Sequential(
    nn.ConvTranspose2d(64, 64, 4, 1, 0, bias=False), nn.BatchNorm2d(64), nn.ReLU(True),
    nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(True),
    nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh(),
).cuda()  # fmt: skip
critic = nn.Sequential(
    nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2, True),
    nn.Conv2d(32, 64, 4, 2, 1, bias=False), nn.BatchNorm2d(64), nn.LeakyReLU(0.2, True),
    nn.Conv2d(64, 1, 4, 1, 0),
).cuda()  # fmt: skip
make, judge = torch.compile(generator), torch.compile(critic)
of_generator = torch.optim.Adam(generator.parameters(), 2e-4, betas=(0.5, 0.999))
of_critic = torch.optim.Adam(critic.parameters(), 2e-4, betas=(0.5, 0.999))
loss_of = nn.BCEWithLogitsLoss()
for _ in range(3):
    real = torch.randn(64, 3, 16, 16, device="cuda")
    fake = make(torch.randn(64, 64, 1, 1, device="cuda"))
    of_critic.zero_grad()
    judged = judge(real).view(-1)
    loss_of(judged, torch.ones_like(judged)).backward()
    judged = judge(fake.detach()).view(-1)
    loss_of(judged, torch.zeros_like(judged)).backward()
    of_critic.step()
    of_generator.zero_grad()
    judged = judge(fake).view(-1)
    loss_of(judged, torch.ones_like(judged)).backward()
    of_generator.step()
