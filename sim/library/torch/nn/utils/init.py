def skip_init(module_cls, *args, **kwargs):
    final_device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=final_device)
