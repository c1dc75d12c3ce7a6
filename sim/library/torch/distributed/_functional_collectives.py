import torch
import torch._C as _C
from torch.autograd.function import Function
from torch.distributed import distributed_c10d as c10d


def _group_of(group):
    """a process group, the ranks of one, a mesh of one dimension, or a mesh and one of its dimensions"""
    if isinstance(group, list):
        ranks = [rank for each in group for rank in each] if isinstance(group[0], list) else group
        own = [each for each in group if c10d.get_rank() in each] if isinstance(group[0], list) else [group]
        for made in c10d._world_groups:
            if list(made._ranks) == own[0]:
                return made
        raise RuntimeError(f"Could not resolve the process group of the ranks {ranks}")
    if isinstance(group, tuple):
        return group[0].get_group(group[1])
    return group.get_group() if hasattr(group, "get_group") else c10d._group(group)


def wait_tensor(tensor):
    return _C.wait_for(tensor)


def _done(work, tensor):
    """a tensor that is waited for when it is first read"""
    if work is not None and tensor.is_cuda:
        _C.wait_when_read(tensor, work)
    return tensor


def all_reduce(self, reduceOp, group, tag=""):
    out = self.clone()
    return _done(c10d.all_reduce(out, reduceOp, _group_of(group), async_op=True), out)


def broadcast(self, src, group, tag=""):
    out = self.clone()
    return _done(c10d.broadcast(out, src, _group_of(group), async_op=True), out)


def all_gather_tensor(self, gather_dim, group, tag=""):
    if not self.is_contiguous():
        raise AssertionError("all_gather_tensor expects a contiguous tensor")
    self = wait_tensor(self)  # before anything is made
    group = _group_of(group)
    rows = self.size(0) if self.dim() > 0 else 1  # of one number there is one a rank
    out = torch.empty((rows * group.size(), *self.shape[1:]), dtype=self.dtype, device=self.device)
    _done(c10d.all_gather_into_tensor(out, self, group, async_op=True), out)
    return out if gather_dim == 0 else _moved_parts(wait_tensor(out), group.size(), gather_dim)


def _moved_parts(out, count, dim):
    """parts along the first dimension put along another; a view, where nothing lies between. Source:
    torch._utils._maybe_view_chunk_cat"""
    shape = list(out.shape)
    if shape[0] != count or any([size != 1 for size in shape[1:dim]]):
        return torch.cat(torch.chunk(out, count, dim=0), dim=dim)
    shape[0], shape[dim] = 1, count * shape[dim]
    return out.view(shape)


def reduce_scatter_tensor(self, reduceOp, scatter_dim, group, tag=""):
    self = wait_tensor(self)
    group = _group_of(group)
    if self.size(scatter_dim) % group.size() != 0:
        raise AssertionError(f"input dimension 0 ({self.size(0)} must be a multiple of group_size {group.size()})")
    if scatter_dim != 0:
        parts = torch.chunk(self, group.size(), dim=scatter_dim)  # which hold the whole until the end
        self = torch.cat(parts)
    out = torch.empty((self.size(0) // group.size(), *self.shape[1:]), dtype=self.dtype, device=self.device)
    return _done(c10d.reduce_scatter_tensor(out, self.contiguous(), reduceOp, group, async_op=True), out)


def all_to_all_single(self, output_split_sizes, input_split_sizes, group, tag=""):
    self = wait_tensor(self)
    rows = self.size(0) if output_split_sizes is None else sum(output_split_sizes)
    out = torch.empty((rows, *self.shape[1:]), dtype=self.dtype, device=self.device)
    work = c10d.all_to_all_single(out, self.contiguous(), output_split_sizes, input_split_sizes, _group_of(group), True)
    return _done(work, out)


def all_to_all_dims(self, gather_dim, shard_dim, group):
    """each rank's parts of one dimension for parts of another: waited for at once"""
    group = _group_of(group)
    # The parts of the first dimension lie one behind the other as they are.
    if shard_dim == 0:
        given = self.contiguous().unflatten(0, (group.size(), -1))
    else:
        given = torch.stack(torch.chunk(self, group.size(), dim=shard_dim))
    out = torch.empty_like(given)
    c10d.all_to_all_single(out, given, None, None, group)
    if gather_dim == 0:
        return out.flatten(0, 1)
    joined = torch.cat([part for part in out], dim=gather_dim)
    del out  # before what was sent
    return joined


def permute_tensor(self, src_dst, group, tag=""):
    self = wait_tensor(self)
    out = torch.empty_like(self)
    return _done(c10d.all_to_all_single(out, self, None, None, _group_of(group), async_op=True), out)


# ---- several at once


def _coalesced(tensors, outputs, group):
    work = _group_of(group)._run(tensors, outputs, True)
    return [_done(work, out) for out in outputs]


def all_reduce_coalesced(self, reduceOp, group, tag=""):
    outputs = [t.clone() for t in self]
    return _coalesced(outputs, outputs, group)


def _of_rows(tensor, rows):
    return torch.empty((rows, *tensor.shape[1:]), dtype=tensor.dtype, device=tensor.device)


def all_gather_into_tensor_coalesced(self, group, tag=""):
    size = _group_of(group).size()
    outputs = [_of_rows(t, t.size(0) * size) for t in self]
    return _coalesced(self, outputs, group)


def reduce_scatter_tensor_coalesced(inputs, reduceOp, scatter_dim, group, tag=""):
    size = _group_of(group).size()
    inputs = [
        t if dim == 0 else torch.cat(torch.chunk(t, size, dim=dim)) for t, dim in zip(inputs, scatter_dim)
    ]
    outputs = [_of_rows(t, t.size(0) // size) for t in inputs]
    return _coalesced(inputs, outputs, group)


# ---- with gradients


class _AllGather(Function):
    @staticmethod
    def forward(ctx, tensor, group):
        ctx.group = group
        return all_gather_tensor(tensor, 0, group)

    @staticmethod
    def backward(ctx, grad):
        return wait_tensor(reduce_scatter_tensor(grad.contiguous(), "sum", 0, ctx.group)), None


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, tensor, reduceOp, group):
        ctx.group = group
        return reduce_scatter_tensor(tensor, reduceOp, 0, group)

    @staticmethod
    def backward(ctx, grad):
        return wait_tensor(all_gather_tensor(grad.contiguous(), 0, ctx.group)), None, None


class _AllToAll(Function):
    @staticmethod
    def forward(ctx, tensor, output_split_sizes, input_split_sizes, group):
        ctx.given = input_split_sizes, output_split_sizes, group
        return all_to_all_single(tensor, output_split_sizes, input_split_sizes, group)

    @staticmethod
    def backward(ctx, grad):
        return wait_tensor(all_to_all_single(grad.contiguous(), *ctx.given)), None, None, None


def all_gather_tensor_autograd(self, gather_dim, group, tag=""):
    out = _AllGather.apply(self, group)
    return out if gather_dim == 0 else torch.cat(torch.chunk(out, _group_of(group).size(), dim=0), dim=gather_dim)


def reduce_scatter_tensor_autograd(self, reduceOp, scatter_dim, group, tag=""):
    if scatter_dim != 0:
        self = torch.cat(torch.chunk(self, _group_of(group).size(), dim=scatter_dim))
    return _ReduceScatter.apply(self, reduceOp, group)


def all_to_all_single_autograd(self, output_split_sizes, input_split_sizes, group, tag=""):
    return _AllToAll.apply(self, output_split_sizes, input_split_sizes, group)


class AsyncCollectiveTensor:
    """a tensor that is waited for when it is first used: here when it is made"""
