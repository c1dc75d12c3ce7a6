import torch._C as _C
from torch.nn.modules.module import Module


class AdaptiveLogSoftmaxWithLoss(Module):
    def __init__(self, *args, **kwargs):
        _C.refuse("nn.AdaptiveLogSoftmaxWithLoss is not modelled: which rows each cluster gets depends on values",
                  "use nn.Linear and F.cross_entropy")
