"""Fully connected networks and an autoencoder."""

from torch import nn

from workloads import class_loss, mse, reconstruct_vectors, run_blocks, vectors, workload


@workload("mlp", vectors, class_loss, inputs=784, hidden=1024, layers=4, classes=10, activation="relu", inplace=False,
          dropout=0.0, bias=True, batchnorm=False)
def mlp(inputs, hidden, layers, classes, activation, inplace, dropout, bias, batchnorm):
    """layers-1 times Linear, [BatchNorm1d], activation, [Dropout]; then Linear"""
    act = {"relu": lambda: nn.ReLU(inplace=inplace), "gelu": nn.GELU, "silu": lambda: nn.SiLU(inplace=inplace),
           "tanh": nn.Tanh, "relu6": lambda: nn.ReLU6(inplace=inplace), "leaky_relu": lambda: nn.LeakyReLU(0.01, inplace=inplace)}[activation]
    mods, width = [], inputs
    for _ in range(layers - 1):
        mods.append(nn.Linear(width, hidden, bias=bias))
        if batchnorm:
            mods.append(nn.BatchNorm1d(hidden))
        mods.append(act())
        if dropout:
            mods.append(nn.Dropout(dropout, inplace=False))
        width = hidden
    return nn.Sequential(*mods, nn.Linear(width, classes, bias=bias))


class CheckpointedMLP(nn.Module):
    """layer1, layer2 checkpointed, layer3 not: the shape of the articles' checkpointing example"""

    checkpoint_mode = None

    def __init__(self, width, classes):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width), nn.Linear(width, width)])
        self.layer3 = nn.Linear(width, classes)

    def forward(self, x):
        return self.layer3(run_blocks(self, x))


@workload("three_linear", vectors, class_loss, inputs=1000, classes=10)
def three_linear(inputs, classes):
    return CheckpointedMLP(inputs, classes)


@workload("autoencoder", reconstruct_vectors, mse, inputs=784, sizes="512,256,64")
def autoencoder(inputs, sizes):
    """the target is the input itself (two device tensors, as the loop copies both)"""
    w = [inputs] + [int(s) for s in str(sizes).split(",")]
    enc = [m for a, b in zip(w, w[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
    w = w[::-1]
    dec = [m for a, b in zip(w, w[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*enc, *dec[:-1], nn.Sigmoid())
