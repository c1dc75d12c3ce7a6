# module: torch.nn.parallel
# defines: DataParallel data_parallel replicate scatter scatter_kwargs gather parallel_apply
import torch
import torch._C as _C
from torch import nn
from torch.autograd import Function
from torch.nn.parallel import comm


class Broadcast(Function):
    @staticmethod
    def forward(ctx, devices, *inputs):
        ctx.num_inputs, ctx.input_device = len(inputs), inputs[0].device
        outputs = comm.broadcast_coalesced(inputs, devices)
        return tuple([t for tensors in outputs for t in tensors])

    @staticmethod
    def backward(ctx, *grad_outputs):
        n = ctx.num_inputs
        grads = [grad_outputs[i:i + n] for i in range(0, len(grad_outputs), n)]
        return (None,) + comm.reduce_add_coalesced(grads, ctx.input_device)


class Scatter(Function):
    @staticmethod
    def forward(ctx, devices, chunk_sizes, dim, input):
        ctx.dim, ctx.input_device = dim, input.device
        if not input.is_cuda:
            _C.refuse("scattering a tensor of the host copies on streams of their own: not modelled",
                      "move the input to the first device before the call")
        return comm.scatter(input, devices, chunk_sizes, dim)

    @staticmethod
    def backward(ctx, *grad_outputs):
        return None, None, None, comm.gather(grad_outputs, ctx.dim, ctx.input_device)


class Gather(Function):
    @staticmethod
    def forward(ctx, device, dim, *inputs):
        ctx.devices, ctx.dim = [x.device for x in inputs], dim
        ctx.unsqueezed = dim == 0 and all([x.dim() == 0 for x in inputs])
        if ctx.unsqueezed:
            inputs = tuple([x.view(1) for x in inputs])
        ctx.sizes = [x.size(dim) for x in inputs]
        return comm.gather(inputs, dim, device)

    @staticmethod
    def backward(ctx, grad_output):
        grads = comm.scatter(grad_output, ctx.devices, ctx.sizes, ctx.dim)
        if ctx.unsqueezed:
            grads = tuple([g[0] for g in grads])
        return (None, None) + grads


def _device(x):
    return torch.device("cuda", x) if isinstance(x, int) else torch.device(x)


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


def _copies(tensors, devices, detach):
    if not tensors:
        return [[] for d in devices]
    if detach:
        return comm.broadcast_coalesced(tensors, devices)
    flat = Broadcast.apply(devices, *tensors)
    return [list(flat[i:i + len(tensors)]) for i in range(0, len(flat), len(tensors))]


def _index_of(tensors, wanted):
    for i, t in enumerate(tensors):
        if t is wanted:
            return i


def replicate(network, devices, detach=False):
    devices = [_device(d) for d in devices]
    params, buffers = list(network.parameters()), list(network.buffers())
    param_copies = _copies(params, devices, detach)
    buffer_copies = _copies(buffers, devices, True)
    modules = list(network.modules())
    copies = [[m._replicate_for_data_parallel() for m in modules] for d in devices]
    for i, module in enumerate(modules):
        for j in range(len(devices)):
            replica = copies[j][i]
            for key, child in module._module_items():
                replica.add_module(key, None if child is None else copies[j][_index_of(modules, child)])
            for key, param in module._parameter_items():
                if param is None:
                    replica.register_parameter(key, None)
                else:
                    setattr(replica, key, param_copies[j][_index_of(params, param)])
            for key, buffer in module._buffer_items():
                setattr(replica, key, None if buffer is None else buffer_copies[j][_index_of(buffers, buffer)])
    return [copies[j][0] for j in range(len(devices))]


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


class DataParallel(nn.Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        if device_ids is None:
            device_ids = list(range(torch.cuda.device_count()))
        self.dim, self.module = dim, module
        self.device_ids = [_device(d) for d in device_ids]
        self.output_device = self.device_ids[0] if output_device is None else _device(output_device)
        if len(self.device_ids) == 1:
            self.module.to(self.device_ids[0])

    def forward(self, *inputs, **kwargs):
        for t in [*self.module.parameters(), *self.module.buffers()]:
            if t.device != self.device_ids[0]:
                raise RuntimeError("module must have its parameters and buffers on device " + str(self.device_ids[0]) +
                                   " (device_ids[0]) but found one of them on device: " + str(t.device))
        t = None
        inputs, module_kwargs = scatter_kwargs(inputs, kwargs, self.device_ids, self.dim)
        if not inputs and not module_kwargs:
            inputs, module_kwargs = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*inputs[0], **module_kwargs[0])
        replicas = replicate(self.module, self.device_ids[:len(inputs)], not torch.is_grad_enabled())
        outputs = parallel_apply(replicas, inputs, module_kwargs, self.device_ids[:len(replicas)])
        return gather(outputs, self.output_device, self.dim)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    return DataParallel(module, device_ids, output_device, dim)(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
