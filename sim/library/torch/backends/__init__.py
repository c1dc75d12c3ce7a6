import torch.backends.cuda as cuda
import torch.backends.cudnn as cudnn
import torch.backends.mps as mps
