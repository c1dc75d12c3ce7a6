import torch
from torch.optim.optimizer import Optimizer


class SparseAdam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        torch._C.refuse("SparseAdam is not modelled", "use SGD for tables with sparse gradients")
