from torch.ao import nn, quantization
