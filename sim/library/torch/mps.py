from torch._absent_device import device_count, failing, is_available, manual_seed

empty_cache = failing("torch.mps", "empty_cache")
seed = failing("torch.mps", "seed")
synchronize = failing("torch.mps", "synchronize")
