import torch
import torch.distributed as dist
from torch.autograd.function import Function
from torch.distributed.distributed_c10d import ReduceOp

# Collectives through which gradients flow: that of one is its counterpart. Source: torch.distributed.nn.functional


class _Collective(Function):
    """`run(*tensors)` gives a collective's results, `reverse(*gradients)` the gradients of its tensors"""

    @staticmethod
    def forward(ctx, run, reverse, *tensors):
        ctx.reverse = reverse
        return run(*tensors)

    @staticmethod
    def backward(ctx, *gradients):
        found = ctx.reverse(*gradients)
        return (None, None) + (found if isinstance(found, tuple) else (found,))


def broadcast(tensor, src, group=None):
    def run(x):
        x = x.clone()
        dist.broadcast(x, src, group=group)
        return x

    def reverse(g):
        g = reduce(g, src, ReduceOp.SUM, group)
        return g if dist.get_rank(group) == src else g.zero_()

    return _Collective.apply(run, reverse, tensor)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    def run(x):
        x = x.clone()
        dist.reduce(x, dst, op=op, group=group)
        return x

    return _Collective.apply(run, lambda g: broadcast(g, dst, group), tensor)


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    def run(x):
        x = x.clone()
        dist.all_reduce(x, op=op, group=group)
        return x

    return _Collective.apply(run, lambda g: all_reduce(g, op, group), tensor)


def gather(tensor, dst=0, group=None):
    def run(x):
        parts = [torch.zeros_like(x) for _ in range(dist.get_world_size(group))]
        dist.gather(x.contiguous(), parts if dist.get_rank(group) == dst else None, dst, group=group)
        return tuple(parts)

    return _Collective.apply(run, lambda *grads: scatter(grads, dst, group), tensor)


def scatter(tensors, src=0, group=None):
    def run(*parts):
        out = torch.zeros_like(parts[0])
        dist.scatter(out, list(parts) if dist.get_rank(group) == src else None, src, group=group)
        return out

    return _Collective.apply(run, lambda g: gather(g, src, group), *tensors)


def all_gather(tensor, group=None):
    def run(x):
        x = x.contiguous()
        parts = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, x, group=group)
        return tuple(parts)

    def reverse(*grads):
        return reduce_scatter(torch.empty_like(grads[dist.get_rank(group)]), list(grads), ReduceOp.SUM, group)

    return _Collective.apply(run, reverse, tensor)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    def run(out, *parts):
        out = out.contiguous()
        dist.reduce_scatter(out, [part.contiguous() for part in parts], op=op, group=group)
        return out

    return _Collective.apply(run, lambda g: (None, *all_gather(g, group)), output, *input_list)


def _all_gather_base(output_tensor, input_tensor, group=None):
    def run(out, x):
        dist.all_gather_into_tensor(out, x.contiguous(), group=group)
        return out

    def reverse(g):
        size = (g.size(0) // dist.get_world_size(group), *g.shape[1:])
        part = torch.empty(size, device=g.device, dtype=g.dtype)
        dist.reduce_scatter_tensor(part, g, ReduceOp.SUM, group)
        return None, part

    return _Collective.apply(run, reverse, output_tensor, input_tensor)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    sizes = [t.size() for t in input_tensor_list]

    def run(*parts):
        dist.all_to_all(output_tensor_list, [part.contiguous() for part in parts], group=group)
        return tuple(output_tensor_list)

    def reverse(*grads):
        back = [torch.empty(size, device=grads[0].device, dtype=grads[0].dtype) for size in sizes]
        return all_to_all(back, list(grads), group)

    return _Collective.apply(run, reverse, *input_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    size = input.size()

    def run(out, x):
        dist.all_to_all_single(out, x, output_split_sizes, input_split_sizes, group=group)
        return out

    def reverse(g):
        back = torch.empty(size, device=g.device, dtype=g.dtype)
        return None, all_to_all_single(back, g.contiguous(), input_split_sizes, output_split_sizes, group)

    return _Collective.apply(run, reverse, output, input)
