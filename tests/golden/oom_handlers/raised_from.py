# The handler makes another error of it, which nothing handles.
import torch


def load(gigabytes):
    try:
        return torch.empty(gigabytes * 2**30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError as error:
        print("cannot hold", gigabytes)
        raise RuntimeError(f"{gigabytes} GiB do not fit") from error


held = [load(gigabytes) for gigabytes in (10, 20, 30, 40)]
print("not reached", len(held))
