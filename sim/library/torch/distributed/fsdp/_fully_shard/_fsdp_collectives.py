import torch
import torch._C as _C
import torch.distributed as dist
from torch.distributed.fsdp._fully_shard._fsdp_common import _padded_size
from torch.distributed.fsdp._fully_shard._fsdp_param import ShardedState


class AllGatherResult:
    """what is being gathered: the buffer, when it is there, and what each parameter has of it"""

    def __init__(self, output, event, work, dtypes, numels, split_sizes):
        self.all_gather_output, self.all_gather_event, self.all_gather_work = output, event, work
        self.param_all_gather_input_dtypes, self.param_all_gather_input_numels = dtypes, numels
        self.all_gather_input_split_sizes = split_sizes


def _cat_into(out, parts, dim):
    """torch.cat(parts, dim, out=out)"""
    offset = 0
    for part in parts:
        out.narrow(dim, offset, part.size(dim)).copy_(part)
        offset += part.size(dim)


def foreach_all_gather(
    fsdp_params, group, async_op, all_gather_copy_in_stream, all_gather_stream, device, all_gather_comm
):
    """every parameter's part into one buffer, which is gathered"""
    with torch.no_grad():
        return _foreach_all_gather(
            fsdp_params, group, async_op, all_gather_copy_in_stream, all_gather_stream, device, all_gather_comm
        )


def _foreach_all_gather(fsdp_params, group, async_op, copy_in_stream, all_gather_stream, device, all_gather_comm):
    world_size, rank = group.size(), group.rank()
    with torch.cuda.stream(copy_in_stream):
        param_all_gather_inputs = _param_all_gather_inputs(fsdp_params)
        dtypes = [[t.dtype for t in inputs] for inputs in param_all_gather_inputs]
        numels = [[t.numel() for t in inputs] for inputs in param_all_gather_inputs]
        dtype = param_all_gather_inputs[0][0].dtype
        if any([d != dtype for ds in dtypes for d in ds]):
            dtype = torch.uint8
            all_gather_inputs = [t.view(torch.uint8) for ts in param_all_gather_inputs for t in ts]
        else:
            all_gather_inputs = [t for ts in param_all_gather_inputs for t in ts]
        inp_split_sizes = [t.numel() for t in all_gather_inputs]
        numel = sum(inp_split_sizes)
        all_gather_output = all_gather_comm.allocate((numel * world_size,), dtype=dtype, device=device)
        _C.name_memory(all_gather_output, fsdp_params[0]._module_info.module, "FSDP: all-gather buffer")
        all_gather_input = _C.numbered_part(all_gather_output, 0, rank, numel)
        torch._foreach_copy_(torch.split(all_gather_input, inp_split_sizes), all_gather_inputs)
        del param_all_gather_inputs
    all_gather_stream.wait_stream(copy_in_stream)
    with torch.cuda.stream(all_gather_stream):
        work = all_gather_comm(
            output_tensor=all_gather_output, input_tensor=all_gather_input, group=group, async_op=async_op
        )
        event = all_gather_stream.record_event()
        return AllGatherResult(all_gather_output, event, work, dtypes, numels, inp_split_sizes)


def _param_all_gather_inputs(fsdp_params):
    """by parameter; those that are cast are cast together, into one tensor"""
    inputs = [[] for _ in fsdp_params]
    together = [i for i, p in enumerate(fsdp_params) if p.param_dtype is not None and not p.offload_to_cpu]
    sources = []
    for i, fsdp_param in enumerate(fsdp_params):
        if i not in together:
            inputs[i] = fsdp_param.all_gather_inputs
        elif fsdp_param.sharded_state == ShardedState.SHARDED:
            sources.append(fsdp_param._sharded_param_data)
        else:
            sources.append(fsdp_param._sharded_post_forward_param_data)
    if sources:
        first = fsdp_params[together[0]]
        numels = [t.numel() for t in sources]
        flat = torch.empty((sum(numels),), device=first.device, dtype=first.param_dtype)
        _C.name_memory(flat, first._module_info.module, "FSDP: parts cast for the all-gather")
        splits = torch.split(flat, numels)
        torch._foreach_copy_(splits, sources)
        for i, split in zip(together, splits):
            inputs[i] = [split]
    return inputs


def foreach_all_gather_copy_out(all_gather_result, fsdp_params, group):
    with torch.no_grad():
        _copy_out(all_gather_result, fsdp_params, group)


def _copy_out(result, fsdp_params, group):
    all_gather_output, device = result.all_gather_output, result.all_gather_output.device
    if result.all_gather_event is not None:
        torch.cuda.current_stream().wait_event(result.all_gather_event)
    if result.all_gather_work is not None:
        result.all_gather_work.wait()
    world_size = group.size()
    outputs, moved = [], []  # names are bound in PyTorch's order, in which what they hold goes
    for numels, dtypes, fsdp_param in zip(
        result.param_all_gather_input_numels, result.param_all_gather_input_dtypes, fsdp_params
    ):
        fsdp_param.init_all_gather_outputs(numels, dtypes, world_size, device)
        fsdp_param.alloc_all_gather_outputs()
        own = fsdp_param.all_gather_outputs
        if fsdp_param.fsdp_placement.dim != 0:
            own = [torch.empty_like(t) for t in own]
            moved.append((fsdp_param, own))
        outputs.extend(own)
    all_gather_output = all_gather_output.view(world_size, -1)
    out = [t.view(world_size, -1) for t in outputs]
    if all_gather_output.dtype == torch.uint8:
        out = [t.view(torch.uint8) for t in out]
    torch._split_with_sizes_copy_into(out, all_gather_output, 1)
    for fsdp_param, own in moved:  # parts of another dimension than the first, side by side
        shard_dim = fsdp_param.fsdp_placement.dim
        for source, target in zip(own, fsdp_param.all_gather_outputs):
            size = list(fsdp_param.padded_sharded_param_size)
            if fsdp_param.sharded_state != ShardedState.SHARDED:
                size = list(fsdp_param._sharded_post_forward_param_data.size())
            before, after = list(size), list(size)
            before[0] *= world_size
            after[shard_dim] *= world_size
            chunks = torch.chunk(source.view(before), world_size, dim=0)
            _cat_into(target.view(after), chunks, shard_dim)


def _divide_factors(scatter_group, reduce_group, reduce_dtype, factor, only_sums):
    """(divisor before, divisor after, operation of reduce-scatter, of all-reduce)"""
    risky = reduce_dtype not in (torch.float32, torch.bfloat16)
    size = (1 if scatter_group is None else scatter_group.size()) * (1 if reduce_group is None else reduce_group.size())
    if not risky and not only_sums:
        if factor is None:
            op = dist.ReduceOp.SUM if size == 1 else dist.ReduceOp.AVG
            return None, None, op, op
        if scatter_group is not None and factor == scatter_group.size():
            return None, None, dist.ReduceOp.AVG, dist.ReduceOp.SUM
        return None, None, dist._make_nccl_premul_sum(1 / factor), dist.ReduceOp.SUM
    factor = float(size) if factor is None else factor
    if not risky:
        return None, factor, dist.ReduceOp.SUM, dist.ReduceOp.SUM
    before = 1
    while factor % before == 0 and factor / before > before:
        before *= 2
    return before, factor / before, dist.ReduceOp.SUM, dist.ReduceOp.SUM


def _div_if_needed(tensor, factor):
    if factor is not None and factor != 1:
        tensor.div_(factor)


class Reduction:
    """what a group's reduction leaves to be waited for, and to be kept until then"""

    def __init__(self, scatter_input, scatter_event, post_event, reduce_input=None, reduce_event=None, partial=None):
        self.reduce_scatter_input, self.reduce_scatter_event = scatter_input, scatter_event
        self.post_reduce_event, self.all_reduce_input, self.all_reduce_event = post_event, reduce_input, reduce_event
        self.partial_reduce_output = partial


def foreach_reduce(param_group, fsdp_params, unsharded_grads, scatter_group, reduce_group, all_reduce_stream):
    """gradients into one buffer, summed, each rank its part; then over replicas. Empties `unsharded_grads`. Source:
    torch's _fsdp_collectives.foreach_reduce"""
    with torch.no_grad():
        return _foreach_reduce(
            param_group, fsdp_params, unsharded_grads, scatter_group, reduce_group, all_reduce_stream
        )


def _foreach_reduce(g, fsdp_params, unsharded_grads, scatter_group, reduce_group, all_reduce_stream):
    grad_dtypes = {grad.dtype for grad in unsharded_grads}
    if len(grad_dtypes) != 1:
        raise AssertionError(f"FSDP reduce-scatter expects uniform gradient dtype but got {grad_dtypes}")
    reduce_dtype = g._reduce_dtype or unsharded_grads[0].dtype
    before, after, scatter_op, reduce_op = _divide_factors(
        scatter_group, reduce_group, reduce_dtype, g.gradient_divide_factor, g.force_sum_reduction_for_comms
    )
    world_size = 1 if scatter_group is None else scatter_group.size()
    current_stream, scatter_stream = torch.cuda.current_stream(), g.comm_ctx.reduce_scatter_stream
    if world_size > 1:
        for i, (fsdp_param, unsharded_grad) in enumerate(zip(fsdp_params, unsharded_grads)):
            shard_dim = fsdp_param.fsdp_placement.dim
            if shard_dim == 0:
                continue
            chunks = torch.chunk(unsharded_grad, world_size, dim=shard_dim)  # the last ones stay until the end
            unsharded_grads[i] = torch.cat(chunks, dim=0)
    padded_sizes = [_padded_size(grad.size(), world_size) for grad in unsharded_grads]
    numel = sum([s.numel() for s in padded_sizes])
    reduce_scatter_input = g._reduce_scatter_comm.allocate((numel,), dtype=reduce_dtype, device=g.device)
    _C.name_memory(reduce_scatter_input, fsdp_params[0]._module_info.module, "FSDP: reduce-scatter buffer")
    torch._chunk_cat_into(reduce_scatter_input.view(world_size, -1), unsharded_grads, world_size)
    unsharded_grads.clear()
    scatter_stream.wait_stream(current_stream)
    all_reduce_input = all_reduce_event = None
    partial = g._partial_reduce_output
    with torch.cuda.stream(scatter_stream):
        reduce_output = g._reduce_scatter_comm.allocate((numel // world_size,), dtype=reduce_dtype, device=g.device)
        _C.name_memory(reduce_output, fsdp_params[0]._module_info.module, "FSDP: sharded gradients")
        _div_if_needed(reduce_scatter_input, before)
        if world_size > 1:
            g._reduce_scatter_comm(
                output_tensor=reduce_output, input_tensor=reduce_scatter_input, group=scatter_group, op=scatter_op
            )
        elif g.gradient_divide_factor is not None:
            reduce_output.copy_(reduce_scatter_input / g.gradient_divide_factor)
        else:
            reduce_output.copy_(reduce_scatter_input)
        reduce_scatter_event = scatter_stream.record_event()
        post_stream = scatter_stream
        if reduce_group is not None:
            if not g.all_reduce_grads:
                if partial is not None:
                    partial += reduce_output
                else:
                    partial = reduce_output
                return Reduction(
                    reduce_scatter_input, reduce_scatter_event, scatter_stream.record_event(), partial=partial
                )
            if partial is not None:
                reduce_output += partial
            post_stream = all_reduce_stream
            all_reduce_stream.wait_stream(scatter_stream)
            with torch.cuda.stream(all_reduce_stream):
                dist.all_reduce(reduce_output, group=reduce_group, op=reduce_op)
                all_reduce_input = reduce_output
                all_reduce_event = all_reduce_stream.record_event()
    if g._all_reduce_hook is not None:
        post_stream = all_reduce_stream
        all_reduce_stream.wait_stream(scatter_stream)
        with torch.cuda.stream(all_reduce_stream):
            g._all_reduce_hook(reduce_output)
    with torch.cuda.stream(post_stream):
        _div_if_needed(reduce_output, after)
        if g._orig_dtype is not None and reduce_output.dtype != g._orig_dtype:
            reduce_output = reduce_output.to(g._orig_dtype)
            _C.name_memory(reduce_output, fsdp_params[0]._module_info.module, "FSDP: sharded gradients")
        offset = 0
        for padded_size, fsdp_param in zip(padded_sizes, fsdp_params):
            _give_gradient(fsdp_param, reduce_output, offset, post_stream)
            offset += padded_size.numel() // world_size
        post_event = post_stream.record_event()
    return Reduction(reduce_scatter_input, reduce_scatter_event, post_event, all_reduce_input, all_reduce_event)


def _give_gradient(fsdp_param, reduce_output, offset, post_stream):
    """a view of what was reduced becomes the gradient of a parameter's part, or is added to it"""
    grad = torch.as_strided(reduce_output, fsdp_param.sharded_size, fsdp_param.contiguous_sharded_stride, offset)
    accumulates = fsdp_param.sharded_param.grad is not None
    if fsdp_param.offload_to_cpu:
        non_blocking = fsdp_param.pin_memory and not accumulates
        grad = grad.to(torch.device("cpu"), non_blocking=non_blocking)
        if non_blocking:
            fsdp_param.grad_offload_event = post_stream.record_event()
    if accumulates:
        local = fsdp_param.sharded_param.grad._local_tensor
        local += grad
    else:
        fsdp_param.sharded_param.grad = fsdp_param.to_sharded_dtensor(grad)
    _C.run_accumulate_hooks(fsdp_param.sharded_param)
