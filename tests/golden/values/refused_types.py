# Operators that promote nothing: PyTorch's error with its text.
import torch


def told(name, function):
    try:
        function()
        print(name, "goes")
    except RuntimeError as error:
        print(name, str(error).splitlines()[0])


def zeros(dtype):
    return torch.zeros(3, dtype=dtype)


single, half, double = zeros(torch.float32), zeros(torch.float16), zeros(torch.float64)
told("lerp to half", lambda: torch.lerp(single, half, 0.3))
told("lerp of half", lambda: torch.lerp(half, single, 0.3))
told("lerp of whole numbers", lambda: torch.lerp(zeros(torch.int64), single, 0.3))
told("lerp in place", lambda: single.lerp_(double, 0.3))
told("lerp by half", lambda: torch.lerp(single, single, half))
told("lerp by one number", lambda: torch.lerp(single, single, torch.tensor(1.0, dtype=torch.float64)))
told("lerp of one type", lambda: torch.lerp(single, single, 0.3))
