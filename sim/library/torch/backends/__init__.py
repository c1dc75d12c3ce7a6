import torch.backends.cuda as cuda
import torch.backends.cudnn as cudnn
import torch.backends.mps as mps
from torch.backends import _precision

fp32_precision = "none"
_matmul_is_medium = False


def __tidemark_store__(name, value):
    """torch.backends.NAME = value"""
    if name == "fp32_precision":
        _precision.set("all", value)
