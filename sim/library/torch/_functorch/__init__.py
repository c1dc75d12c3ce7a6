"""where the compiler's settings of autograd are"""
from torch._functorch import config
