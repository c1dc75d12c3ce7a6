import torch
from torch.cuda import (
    current_device as current_device_idx, current_device as current_device_index,
    device as device_index, device_count, empty_cache, is_available, max_memory_allocated,
    max_memory_reserved, mem_get_info as get_memory_info, memory_allocated, memory_reserved,
    memory_stats, reset_peak_memory_stats, set_device as set_device_idx,
    set_device as set_device_index, synchronize,
)
from torch.cuda.streams import current_stream, set_stream


def current_accelerator(check_available=False):
    return torch.device("cuda")
