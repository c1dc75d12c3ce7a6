import torch.amp


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


def custom_fwd(fwd=None, **kwargs):
    return torch.amp.custom_fwd(fwd, device_type="cuda", **kwargs)


def custom_bwd(bwd=None):
    return torch.amp.custom_bwd(bwd, device_type="cuda")
