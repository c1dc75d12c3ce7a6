"""collectives by the names that policies of checkpointing compare with"""
import torch


def __getattr__(name):
    op = getattr(torch.ops.aten, "_c10d_functional." + name)  # as whoever looks on is told of them
    setattr(torch.ops._c10d_functional, name, op)
    return op
