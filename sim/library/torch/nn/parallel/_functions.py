import torch
import torch._C as _C
from torch.autograd.function import Function
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
