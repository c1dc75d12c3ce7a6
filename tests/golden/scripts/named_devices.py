import numpy as np
import torch

for name in ("mps", "xpu", "hpu", "cpu", "meta"):
    device = torch.device(name)
    print(device, repr(device), device.type, device.index, device == torch.device("cuda"), hash(device) == hash(torch.device(name)))
try:
    torch.ones(2).to("mps")
except RuntimeError as error:
    print(error)

draws = np.random.default_rng(1)
for numbers in (
    draws.standard_normal((2, 3), dtype=np.float32),
    draws.random(4, dtype="float32"),
    draws.integers(0, 5, size=3),
    draws.integers(3, size=(2,), dtype=np.int32, endpoint=True),
    draws.standard_exponential(2, dtype=np.float32),
):
    print(numbers.dtype, numbers.shape, torch.from_numpy(numbers).cuda().shape)
