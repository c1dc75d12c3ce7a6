import torch
from torch import nn
from torch.nn.parallel._functions import _device
from torch.nn.parallel.parallel_apply import parallel_apply
from torch.nn.parallel.replicate import replicate
from torch.nn.parallel.scatter_gather import gather, scatter_kwargs


def _index_of(tensors, wanted):
    for i, t in enumerate(tensors):
        if t is wanted:
            return i


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
    return DataParallel(module, device_ids, output_device, dim)(
        *(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {})
    )
