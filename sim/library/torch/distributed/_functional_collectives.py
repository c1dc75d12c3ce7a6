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
    if isinstance(group, str):
        for made in c10d._world_groups:
            if made.group_name == group:
                return made
        raise RuntimeError(f'Could not resolve the process group registered under the name "{group}"')
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


def _rows(tensor, rows):
    return (rows, *tensor.shape[1:])


def _of_rows(tensor, rows):
    return torch.empty(_rows(tensor, rows), dtype=tensor.dtype, device=tensor.device)


_PURPOSES = {
    "all_reduce": "reduced over ranks", "all_gather_into_tensor": "gathered from ranks",
    "reduce_scatter_tensor": "reduced over ranks, in parts", "all_to_all_single": "exchanged between ranks",
}


def _collective(name, tensor, group, shape, send, make=None, kind=""):
    """one operator, whose result `send` fills; one that was kept is not sent for again. In code that is being compiled
    the wait follows at once"""
    if _C.is_traced():
        return _C.traced_collective(name, tensor, shape, f"{name}, {kind}, {group.group_name}, {shape}")
    made = make or (lambda: torch.empty(shape, dtype=tensor.dtype, device=tensor.device))
    out = _C.one_operator("_c10d_functional." + name, tensor, made)
    _C.name_here(out, _PURPOSES.get(name, name))
    return out if _C.is_answered() else _done(send(out), out)


# ---- with gradients: each has a backward, which asks for a sum. Source: torch.library.register_autograd of each


class _Differentiable(Function):
    @staticmethod
    def forward(ctx, tensor, run, back, as_it_comes):
        ctx.back, ctx.as_it_comes = back, as_it_comes
        return run(tensor)

    @staticmethod
    def backward(ctx, grad):
        return wait_tensor(ctx.back(grad if ctx.as_it_comes else grad.contiguous())), None, None, None


def _with_backward(tensor, run, back, as_it_comes=False):
    """as_it_comes: a gradient that is not contiguous is not made so"""
    if torch.is_grad_enabled() and tensor.requires_grad:
        return _Differentiable.apply(tensor, run, back, as_it_comes)
    return run(tensor)


def _contiguous(tensor, name="input"):
    """Source: TORCH_CHECK of the operators in c10d's Functional.cpp"""
    if not tensor.is_contiguous():
        raise RuntimeError(
            f"Expected {name}.is_contiguous() to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return tensor


def _copied(tensor):
    return tensor.clone(memory_format=torch.contiguous_format)


def _sums_only(name, op):
    if op.lower() != "sum":
        raise RuntimeError(f"{name} backward only supports 'sum' reduction, got '{op.lower()}'")


def all_reduce(self, reduceOp, group, tag=""):
    group = _group_of(group)

    def run(tensor):
        send = lambda out: c10d.all_reduce(out, reduceOp, group, async_op=True)
        return _collective("all_reduce", tensor, group, tensor.shape, send, lambda: _copied(tensor), str(reduceOp))

    def back(grad):
        _sums_only("all_reduce", reduceOp)
        return run(grad)

    return _with_backward(self, run, back)


def broadcast(self, src, group, tag=""):
    group = _group_of(group)
    send = lambda out: c10d.broadcast(out, src, group, async_op=True)
    return _collective("broadcast", self, group, self.shape, send, lambda: _copied(self), str(src))


def _gathered(tensor, group):
    tensor = _contiguous(wait_tensor(tensor))  # before anything is made
    rows = tensor.size(0) if tensor.dim() > 0 else 1  # of one number there is one a rank
    send = lambda out: c10d.all_gather_into_tensor(out, tensor, group, async_op=True)
    return _collective("all_gather_into_tensor", tensor, group, _rows(tensor, rows * group.size()), send)


def _scattered(tensor, op, group):
    tensor = _contiguous(tensor)
    send = lambda out: c10d.reduce_scatter_tensor(out, tensor, op, group, async_op=True)
    shape = _rows(tensor, tensor.size(0) // group.size())
    return _collective("reduce_scatter_tensor", tensor, group, shape, send, kind=str(op))


def _gathered_with_backward(tensor, group, as_it_comes=False):
    back = lambda grad: _scattered(grad, "sum", group)
    return _with_backward(tensor, lambda t: _gathered(t, group), back, as_it_comes)


def all_gather_tensor(self, gather_dim, group, tag=""):
    if not self.is_contiguous():
        raise AssertionError("Tensor must be contiguous for all_gather_tensor")
    group = _group_of(group)
    out = _gathered_with_backward(self, group)
    return out if gather_dim == 0 else _moved_parts(wait_tensor(out), group.size(), gather_dim)


def _moved_parts(out, count, dim):
    """parts along the first dimension put along another; a view, where nothing lies between. Source:
    torch._utils._maybe_view_chunk_cat"""
    shape = list(out.shape)
    if shape[0] != count or any([size != 1 for size in shape[1:dim]]):
        return torch.cat(torch.chunk(out, count, dim=0), dim=dim)
    shape[0], shape[dim] = 1, count * shape[dim]
    return out.view(shape)


def _scattered_with_backward(tensor, op, group, as_it_comes):
    def back(grad):
        _sums_only("reduce_scatter_tensor", op)
        return _gathered(grad, group)

    return _with_backward(tensor, lambda t: _scattered(t, op, group), back, as_it_comes)


def reduce_scatter_tensor(self, reduceOp, scatter_dim, group, tag=""):
    return _summed_parts(self, reduceOp, scatter_dim, group, False)


def _summed_parts(self, reduceOp, scatter_dim, group, as_it_comes):
    self = wait_tensor(self)
    group = _group_of(group)
    if self.size(scatter_dim) % group.size() != 0:
        raise AssertionError(f"input dimension 0 ({self.size(0)} must be a multiple of group_size {group.size()})")
    if scatter_dim != 0:
        parts = torch.chunk(self, group.size(), dim=scatter_dim)  # which hold the whole until the end
        self = torch.cat(parts)
    return _scattered_with_backward(self, reduceOp, group, as_it_comes)


def _exchanged(tensor, output_split_sizes, input_split_sizes, group):
    tensor = _contiguous(wait_tensor(tensor))
    rows = tensor.size(0) if output_split_sizes is None else sum(output_split_sizes)
    send = lambda out: c10d.all_to_all_single(
        out, tensor, output_split_sizes, input_split_sizes, group, True
    )
    kind = f"{output_split_sizes} {input_split_sizes}"
    return _collective("all_to_all_single", tensor, group, _rows(tensor, rows), send, kind=kind)


def all_to_all_single(self, output_split_sizes, input_split_sizes, group, tag=""):
    group = _group_of(group)
    return _with_backward(
        self,
        lambda t: _exchanged(t, output_split_sizes, input_split_sizes, group),
        lambda grad: _exchanged(grad, input_split_sizes, output_split_sizes, group),
    )


def all_to_all_dims(self, gather_dim, shard_dim, group):
    """each rank's parts of one dimension for parts of another: waited for at once"""
    group = _group_of(group)
    if _C.is_traced():
        shape = list(self.shape)
        shape[gather_dim] *= group.size()
        shape[shard_dim] //= group.size()
        settings = f"shard_dim_alltoall, {gather_dim}, {shard_dim}, {group.group_name}"
        return _C.traced_collective("shard_dim_alltoall", self, shape, settings)
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
    self = _contiguous(wait_tensor(self))
    out = torch.empty_like(self)
    return _done(c10d.all_to_all_single(out, self, None, None, _group_of(group), async_op=True), out)


# ---- several at once


def _coalesced(kind, tensors, outputs, group):
    work = _group_of(group)._run(tensors, outputs, True, kind=kind)
    return [_done(work, out) for out in outputs]


def all_reduce_coalesced(self, reduceOp, group, tag=""):
    outputs = [_copied(t) for t in self]
    return _coalesced("all_reduce", outputs, outputs, group)


def all_gather_into_tensor_coalesced(self, group, tag=""):
    size = _group_of(group).size()
    outputs = [_of_rows(_contiguous(t, "tensor"), t.size(0) * size) for t in self]
    return _coalesced("all_gather", self, outputs, group)


def reduce_scatter_tensor_coalesced(inputs, reduceOp, scatter_dim, group, tag=""):
    size = _group_of(group).size()
    inputs = [
        t if dim == 0 else torch.cat(torch.chunk(t, size, dim=dim)) for t, dim in zip(inputs, scatter_dim)
    ]
    outputs = [_of_rows(_contiguous(t, "tensor"), t.size(0) // size) for t in inputs]
    return _coalesced("reduce_scatter", inputs, outputs, group)


# ---- the same under another name


def all_gather_tensor_autograd(self, gather_dim, group, tag=""):
    group = _group_of(group)
    out = _gathered_with_backward(self, group, as_it_comes=True)
    return out if gather_dim == 0 else torch.cat(torch.chunk(out, group.size(), dim=0), dim=gather_dim)


def reduce_scatter_tensor_autograd(self, reduceOp, scatter_dim, group, tag=""):
    return _summed_parts(self, reduceOp, scatter_dim, group, True)


def all_to_all_single_autograd(self, output_split_sizes, input_split_sizes, group, tag=""):
    return all_to_all_single(self, output_split_sizes, input_split_sizes, group, tag)


# ---- into a tensor that is there


def _refuse_async(async_op):
    if async_op:
        raise AssertionError("Can't remap async version of inplace op to functional collective")


def all_reduce_inplace(tensor, op="sum", group=None, async_op=False, tag=""):
    _refuse_async(async_op)
    return tensor.copy_(all_reduce(tensor, op, group, tag))


def all_gather_tensor_inplace(output_tensor, input_tensor, group=None, async_op=False, tag="", gather_dim=0):
    _refuse_async(async_op)
    return output_tensor.copy_(all_gather_tensor(input_tensor, gather_dim, group, tag))


def reduce_scatter_tensor_inplace(output, input, op="sum", group=None, async_op=False, scatter_dim=0, tag=""):
    _refuse_async(async_op)
    return output.copy_(reduce_scatter_tensor(input, op, scatter_dim, group, tag))


def all_to_all_inplace(
    output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False, tag=""
):
    _refuse_async(async_op)
    return output.copy_(all_to_all_single(input, output_split_sizes, input_split_sizes, group, tag))


def all_gather_inplace(tensor_list, tensor, group=None, async_op=False, tag=""):
    _refuse_async(async_op)
    if tensor.dim() != 0 and not all([t.size(0) == tensor.size(0) for t in tensor_list]):
        raise AssertionError("Remapping variable size all_gather is not yet supported")
    output = all_gather_tensor(tensor, 0, group, tag)
    offset = 0
    for t in tensor_list:
        rows = 1 if t.dim() == 0 else t.size(0)
        t.copy_(output[offset] if t.dim() == 0 else output[offset : offset + rows])
        offset += rows
    return tensor_list


class AsyncCollectiveTensor:
    """a tensor that is waited for when it is first used: here when it is made"""


# ---- the operators themselves, torch.ops._c10d_functional, which are told how large the group is

_OPERATORS = {
    "wait_tensor": wait_tensor,
    "all_reduce": all_reduce,
    "broadcast": broadcast,
    "all_gather_into_tensor": lambda input, group_size, group_name: _gathered_with_backward(
        input, _group_of(group_name)
    ),
    "reduce_scatter_tensor": lambda input, reduce_op, group_size, group_name: _scattered_with_backward(
        input, reduce_op, _group_of(group_name), False
    ),
    "all_to_all_single": all_to_all_single,
}


def _operator(name):
    return _OPERATORS.get(name)
