from torch.ao.nn import quantized
