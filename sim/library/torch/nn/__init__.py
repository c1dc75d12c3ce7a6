"""torch.nn: the classes, and what they share."""
import torch
import torch.nn.parallel as parallel
from torch.nn.modules._words import _words_of
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.loss import _Loss, _reduction_name
from torch.nn.modules.module import _IncompatibleKeys, _load_hooks, _load_own, _load_state_dict
from torch.nn.parallel.data_parallel import DataParallel
from torch.nn.modules import *

if torch._C.release_rule("has_buffer"):
    from torch.nn.parameter import Buffer
