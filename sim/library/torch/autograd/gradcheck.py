import torch._C as _C


def gradcheck(*args, **kwargs):
    _C.refuse("gradcheck is not modelled", "it compares values: run it with PyTorch")


def gradgradcheck(*args, **kwargs):
    _C.refuse("gradgradcheck is not modelled", "it compares values: run it with PyTorch")
