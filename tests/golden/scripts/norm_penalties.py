"""Gradient penalties through norms: the gradient's own gradient goes through layer, batch, group, instance and RMS norm."""
import torch
from torch import nn


def penalise(model, *shape):
    images = torch.randn(*shape, device="cuda", requires_grad=True)
    score = model(images).sum()
    (gradient,) = torch.autograd.grad(score, images, create_graph=True)
    penalty = ((gradient.flatten(1).norm(2, dim=1) - 1) ** 2).mean()
    (penalty + score * 0.1).backward()
    model.zero_grad()


def rows(norm, activation):
    return nn.Sequential(nn.Linear(64, 96), norm, activation, nn.Linear(96, 1)).cuda()


def critic(first, second, activation):
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), first, nn.LeakyReLU(0.2), nn.Conv2d(16, 8, 4, 2, 1), second,
                         activation, nn.Flatten(), nn.Linear(8 * 8 * 8, 1)).cuda()


for model in (rows(nn.LayerNorm(96), nn.GELU()), rows(nn.LayerNorm(96, elementwise_affine=False), nn.GELU("tanh")),
              rows(nn.BatchNorm1d(96), nn.SiLU()), rows(nn.RMSNorm(96), nn.SiLU())):
    penalise(model, 32, 64)
    penalise(model, 32, 64)
penalise(rows(nn.LayerNorm(96), nn.GELU()), 4, 8, 64)
batch = critic(nn.BatchNorm2d(16), nn.BatchNorm2d(8), nn.SiLU())
penalise(batch, 8, 3, 16, 16)
penalise(batch.eval(), 8, 3, 16, 16)
penalise(critic(nn.GroupNorm(4, 16), nn.GroupNorm(2, 8, affine=False), nn.Mish()), 8, 3, 16, 16)
penalise(critic(nn.InstanceNorm2d(16, affine=True), nn.InstanceNorm2d(8), nn.ReLU()), 8, 3, 16, 16)
