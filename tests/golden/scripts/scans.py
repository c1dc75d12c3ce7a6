"""Scans of every type, from few elements to many."""
import torch

for dtype in (torch.bfloat16, torch.float16, torch.uint8, torch.int8, torch.int16, torch.bool, torch.float32, torch.int64, torch.float64,
              torch.int32, torch.complex64, torch.complex128):
    for count in (16, 3000, 100000, 1000003, 9000000):
        x = torch.zeros(count, dtype=dtype, device="cuda")
        y = x.cumsum(0, dtype=torch.uint8 if dtype == torch.bool else dtype)
        del x, y
