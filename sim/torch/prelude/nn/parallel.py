# module: torch.nn
# defines: DataParallel parallel
import torch.nn.parallel as parallel
from torch.nn.parallel import DataParallel
