"""What programs say to the compiler, under its older name."""
from torch.compiler import *
