"""PyTorch's defaults of what programs read"""
from torch.utils._config_module import patch

activation_memory_budget = 1.0
functionalize_rng_ops = recompute_views = bundled_autograd_cache = False
donated_buffer = True
