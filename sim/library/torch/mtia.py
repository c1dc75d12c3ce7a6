from torch._absent_device import *
from torch._absent_device import failing

empty_cache = failing("torch.mtia", "empty_cache")


def is_bf16_supported(including_emulation=True):
    return True


def current_device():
    return 0


def memory_stats(device=None):
    return {}
