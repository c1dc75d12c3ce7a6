# Gradients of gradients: the penalty of WGAN-GP, R1, inner loops of MAML, element-wise operators one by one.
import torch
import torch.nn.functional as F
from torch import nn

device = "cuda"


def penalised_critic():
    critic = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)).to(device)
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4)
    for _ in range(2):
        real, fake = torch.randn(32, 64, device=device), torch.randn(32, 64, device=device)
        share = torch.rand(32, 1, device=device)
        between = (share * real + (1 - share) * fake).requires_grad_(True)
        scores = critic(between)
        slope = torch.autograd.grad(scores, between, torch.ones_like(scores), create_graph=True)[0]
        penalty = ((slope.view(32, -1).norm(2, dim=1) - 1) ** 2).mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def r1():
    critic = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
                           nn.Flatten(), nn.Linear(64 * 8 * 8, 1)).to(device)
    images = torch.randn(8, 3, 32, 32, device=device, requires_grad=True)
    scores = critic(images)
    slope, = torch.autograd.grad(scores.sum(), images, create_graph=True)
    (F.softplus(-scores).mean() + 5 * slope.pow(2).reshape(8, -1).sum(1).mean()).backward()


def inner_loops():
    slow = [torch.randn(40, 1, device=device, requires_grad=True), torch.zeros(40, device=device, requires_grad=True),
            torch.randn(1, 40, device=device, requires_grad=True), torch.zeros(1, device=device, requires_grad=True)]

    def predict(x, weights):
        return F.linear(F.relu(F.linear(x, weights[0], weights[1])), weights[2], weights[3])

    x, y = torch.randn(10, 1, device=device), torch.randn(10, 1, device=device)
    fast = slow
    for _ in range(2):
        gradients = torch.autograd.grad(F.mse_loss(predict(x, fast), y), fast, create_graph=True)
        fast = [weight - 0.01 * gradient for weight, gradient in zip(fast, gradients)]
    F.mse_loss(predict(x, fast), y).backward()


def element_by_element():
    for function in (torch.tanh, torch.sigmoid, torch.exp, torch.sin, torch.sqrt, torch.log, torch.relu, torch.erf, torch.rsqrt,
                     torch.sinc, F.silu, F.softplus, F.elu, F.mish, F.hardswish, lambda x: x ** 3, lambda x: 1 / x,
                     lambda x: torch.where(x > 0, x * x, x), lambda x: (x - 1) * (2 - x), lambda x: x.t() @ x):
        x = torch.rand(64, 32, device=device, requires_grad=True)
        slope, = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        (slope * slope).sum().backward()
        del x, slope


penalised_critic()
r1()
inner_loops()
element_by_element()
