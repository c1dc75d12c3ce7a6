from torch.ao.nn.quantized import FloatFunctional
