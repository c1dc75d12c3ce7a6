import torch
import torch._C as _C


def _run_worker(module, input, kwargs, device, grad_enabled, autocast_enabled):
    before = _C.begin_worker(device, grad_enabled)
    try:
        with torch.autocast("cuda", enabled=autocast_enabled):
            return module(*(input if isinstance(input, (list, tuple)) else (input,)), **kwargs)
    finally:
        _C.end_worker(before)


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """a host thread a replica; what each asks of its device does not depend on the others"""
    kwargs_tup = kwargs_tup or [{} for m in modules]
    grad, autocast = torch.is_grad_enabled(), torch.is_autocast_enabled()
    return [_run_worker(modules[i], inputs[i], kwargs_tup[i], devices[i], grad, autocast) for i in range(len(modules))]
