"""Backends that a CUDA wheel has not: what their functions answer, and the errors that they raise."""
import torch

ASKED = {
    torch.xpu: "device_count is_available is_bf16_supported memory_allocated memory_stats seed "
               "get_arch_list current_device current_stream mem_get_info synchronize "
               "is_current_stream_capturing graph_pool_handle",
    torch.mps: "device_count is_available empty_cache synchronize get_rng_state seed "
               "current_allocated_memory",
    torch.mtia: "is_available empty_cache memory_allocated memory_stats is_bf16_supported "
                "synchronize current_stream",
}

for backend, names in ASKED.items():
    for name in names.split():
        try:
            print(backend.__name__, name, getattr(backend, name)())
        except Exception as error:
            print(backend.__name__, name, type(error).__name__, error)
print(isinstance(1, torch.xpu.Event), hasattr(torch.mps, "nope"))
