# module: torch.cuda.amp
# defines: GradScaler autocast custom_fwd custom_bwd
import torch
import torch.amp
from torch.amp import GradScaler as _GradScaler


class GradScaler(_GradScaler):
    def __init__(self, init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


def custom_fwd(fwd=None, **kwargs):
    return torch.amp.custom_fwd(fwd, device_type="cuda", **kwargs)


def custom_bwd(bwd=None):
    return torch.amp.custom_bwd(bwd, device_type="cuda")
