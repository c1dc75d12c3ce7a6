# module: torch.backends
# defines: cuda cudnn
import torch.backends.cuda as cuda
import torch.backends.cudnn as cudnn
