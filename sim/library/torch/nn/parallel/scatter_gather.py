import torch
from torch.nn.parallel._functions import Gather, Scatter, _device


def scatter(inputs, target_gpus, dim=0):
    devices = [_device(d) for d in target_gpus]

    def parts(obj):
        if isinstance(obj, torch.Tensor):
            return Scatter.apply(devices, None, dim, obj)
        if isinstance(obj, tuple) and len(obj) > 0:
            return list(zip(*[parts(x) for x in obj]))
        if isinstance(obj, list) and len(obj) > 0:
            return [list(i) for i in zip(*[parts(x) for x in obj])]
        if isinstance(obj, dict) and len(obj) > 0:
            return [dict(i) for i in zip(*[parts(x) for x in obj.items()])]
        return [obj for d in devices]

    return parts(inputs)


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    scattered = list(scatter(inputs, target_gpus, dim)) if inputs else []
    named = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    while len(scattered) < len(named):
        scattered.append(())
    while len(named) < len(scattered):
        named.append({})
    return tuple(scattered), tuple(named)


def gather(outputs, target_device, dim=0):
    out = outputs[0]
    if isinstance(out, torch.Tensor):
        return Gather.apply(_device(target_device), dim, *outputs)
    if out is None:
        return None
    if isinstance(out, dict):
        return dict([(k, gather([d[k] for d in outputs], target_device, dim)) for k in out])
    return type(out)([gather(parts, target_device, dim) for parts in zip(*outputs)])
