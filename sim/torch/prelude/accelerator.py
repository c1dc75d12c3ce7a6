# module: torch.accelerator
# defines: is_available device_count current_accelerator current_device_index current_device_idx set_device_index set_device_idx current_stream set_stream synchronize empty_cache memory_stats memory_allocated max_memory_allocated memory_reserved max_memory_reserved reset_peak_memory_stats get_memory_info device_index
import torch
from torch.cuda import is_available, device_count, current_stream, set_stream, synchronize, empty_cache, memory_stats
from torch.cuda import memory_allocated, max_memory_allocated, memory_reserved, max_memory_reserved, reset_peak_memory_stats
from torch.cuda import current_device as current_device_index, current_device as current_device_idx, mem_get_info as get_memory_info
from torch.cuda import set_device as set_device_index, set_device as set_device_idx, device as device_index


def current_accelerator(check_available=False):
    return torch.device("cuda")
