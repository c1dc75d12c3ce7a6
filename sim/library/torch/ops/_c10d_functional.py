"""collectives by the names that policies of checkpointing compare with"""
import torch


def __getattr__(name):
    from torch.distributed import _functional_collectives

    op = getattr(torch.ops.aten, "_c10d_functional." + name)  # as whoever looks on is told of them
    op._function = _functional_collectives._operator(name)
    setattr(torch.ops._c10d_functional, name, op)
    return op
