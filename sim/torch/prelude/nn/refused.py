# module: torch.nn
# defines: AdaptiveLogSoftmaxWithLoss CrossMapLRN2d
import torch._C as _C
from torch.nn import Module


class AdaptiveLogSoftmaxWithLoss(Module):
    def __init__(self, *args, **kwargs):
        _C.refuse("nn.AdaptiveLogSoftmaxWithLoss is not modelled: which rows each cluster gets depends on values",
                  "use nn.Linear and F.cross_entropy")


class CrossMapLRN2d(Module):
    def __init__(self, *args, **kwargs):
        _C.refuse("nn.CrossMapLRN2d is not modelled", "use nn.LocalResponseNorm")
