import torch
import torch._C as _C
import torch.distributed as dist
from torch.distributed.fsdp import _flat_param as flat
from torch.distributed.fsdp._fully_shard._fsdp_common import _apply_to_tensors, _cast_fp_tensor
from torch.distributed.fsdp.api import BackwardPrefetch, ShardingStrategy

# What happens around the forward and backward of a wrapped module. Source: torch.distributed.fsdp._runtime_utils
HYBRID = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)
_RESHARDED_AFTER_FORWARD = (ShardingStrategy.FULL_SHARD, ShardingStrategy.HYBRID_SHARD)
_INFLIGHT = 2  # all-gathers that the rate limiter lets begin before one has been freed


class Shared:
    """what all instances below one root have in common"""

    def __init__(self, root, states):
        uses_hybrid = any([s.sharding_strategy in HYBRID for s in states])
        priority = -1 if root.limit_all_gathers and uses_hybrid else 0
        self.default_stream = torch.cuda.current_stream()
        self.unshard_stream = torch.cuda.Stream(priority=priority)
        self.post_backward_stream = torch.cuda.Stream(priority=priority)
        self.pre_unshard_stream = torch.cuda.Stream(priority=priority)
        self.all_reduce_stream = torch.cuda.Stream() if uses_hybrid else self.default_stream
        self.states, self.free_events = states, []
        self.pre_forward_order, self.post_forward_order, self.is_first_iteration = [], [], True
        self.callback_queued = False

    def handles(self):
        return [s._handle for s in self.states if s._handle]


def lazy_init(state):
    if state._is_root is not None:
        return
    state._is_root = True
    states = state.fsdp_modules(state)
    state._shared = Shared(state, states)
    seen, found = set(), []
    for each in states[::-1]:  # a buffer's own unit says its type
        for buffer in each.buffers():
            if id(buffer) not in seen:
                seen.add(id(buffer))
                found.append((buffer, each.mixed_precision.buffer_dtype))
    for buffer, dtype in found:
        wanted = dtype if dtype is not None and buffer.is_floating_point() else buffer.dtype
        buffer.data = buffer.to(state.compute_device, wanted)
    for each in states:
        if each is not state:
            each._is_root, each._shared = False, state._shared
        if each._handle:
            each._handle._compute_stream = state._shared.default_stream
            each._handle.init_flat_param_attributes()


def unshard(state, handle):
    shared = state._shared
    with torch.cuda.stream(shared.pre_unshard_stream):
        ran = handle.pre_unshard()
    if ran:
        shared.unshard_stream.wait_stream(shared.pre_unshard_stream)
    limit(state)
    with torch.cuda.stream(shared.unshard_stream):
        handle.unshard()
        handle.post_unshard()


def limit(state):
    """waits for what was freed, where too many all-gathers are under way"""
    if state.limit_all_gathers and len(state._shared.free_events) >= _INFLIGHT:
        state._shared.free_events.pop(0).synchronize()


def reshard(state, handle, frees):
    handle.reshard(frees)
    if state.limit_all_gathers and frees:
        event = torch.cuda.Event()
        event.record()
        state._shared.free_events.append(event)
    handle.post_reshard()
    handle._prefetched = False


def root_pre_forward(state, args, kwargs):
    lazy_init(state)
    if not state._is_root:
        return args, kwargs
    shared = state._shared
    if state.forward_prefetch:
        for handle in shared.handles():
            handle._needs_pre_forward_unshard, handle._prefetched = True, False
    current = torch.cuda.current_stream()
    shared.unshard_stream.wait_stream(current)
    shared.pre_unshard_stream.wait_stream(current)
    for handle in shared.handles():
        handle.reset_grad_info()

    def move(x):
        return x if x.device == state.compute_device else x.to(state.compute_device)

    args, kwargs = _apply_to_tensors(move, args), _apply_to_tensors(move, kwargs)
    dtype = state.mixed_precision.param_dtype
    if state.mixed_precision.cast_root_forward_inputs and dtype:
        args = _apply_to_tensors(lambda x: _cast_fp_tensor(dtype, x), args)
        kwargs = _apply_to_tensors(lambda x: _cast_fp_tensor(dtype, x), kwargs)
    return args, kwargs


def pre_forward(state, handle, args, kwargs):
    if handle and handle._training_state == flat.BACKWARD_PRE:
        return args, kwargs
    if handle:
        shared = state._shared
        if shared.is_first_iteration and handle._pre_forward_order_index is None:
            handle._pre_forward_order_index = len(shared.pre_forward_order)
            shared.pre_forward_order.append(handle)
        handle._training_state = flat.FORWARD
        if not handle._prefetched:
            unshard(state, handle)
        handle._needs_pre_forward_unshard = False
        torch.cuda.current_stream().wait_stream(shared.unshard_stream)
        prefetch(state, handle)
        if torch.is_grad_enabled() and handle.flat_param.requires_grad and handle._hook is None:
            accumulator = handle.flat_param.expand_as(handle.flat_param).grad_fn.next_functions[0][0]
            handle._hook = accumulator.register_hook(lambda *_: post_backward(state, handle))
            handle._accumulator = accumulator
            del accumulator
    dtype = state.mixed_precision.param_dtype
    if state.mixed_precision.cast_forward_inputs and dtype and handle:
        args = _apply_to_tensors(lambda x: _cast_fp_tensor(dtype, x), args)
        kwargs = _apply_to_tensors(lambda x: _cast_fp_tensor(dtype, x), kwargs)
    if handle and torch.is_grad_enabled() and not handle.flat_param.requires_grad and handle._hook is None:
        handle._hook = _ReshardAfter(state, handle, args, kwargs)
    return args, kwargs


class _ReshardAfter:
    """frozen parameters go when backward has come to all inputs of their module"""

    def __init__(self, state, handle, args, kwargs):
        self._state, self._handle, self._missing, self._hooks = state, handle, 0, []
        _apply_to_tensors(self._watch, (args, kwargs))

    def _watch(self, tensor):
        if tensor.requires_grad:
            self._missing += 1
            self._hooks.append(tensor.register_hook(self._arrived))
        return tensor

    def _arrived(self, grad):
        self._missing -= 1
        if self._missing == 0:
            with torch.no_grad():
                self._handle._training_state = flat.BACKWARD_POST
                reshard(self._state, self._handle, frees_in_backward(self._state, self._handle))
                prefetch(self._state, self._handle)

    def remove(self):
        for hook in self._hooks:
            hook.remove()


def post_forward(state, handle, output):
    if handle and handle._training_state == flat.BACKWARD_PRE:
        return output
    if handle:
        # Where a handle was used first; the first of all is not told from one without a place.
        if not handle._post_forward_index:
            handle._post_forward_index = len(state._shared.post_forward_order)
        state._shared.post_forward_order.append(handle)
        reshard(state, handle, not state._is_root and handle._strategy in _RESHARDED_AFTER_FORWARD)
    if torch.is_grad_enabled():
        if state._is_root:
            state._shared.callback_queued = False
        if handle:
            handle._needs_pre_backward_unshard = handle._ran_pre_backward_hook = False

        def register(t):
            if t.requires_grad:
                t.register_hook(lambda grad: pre_backward(state, handle, grad))
                if handle:
                    handle._needs_pre_backward_unshard = True
            return t

        output = _apply_to_tensors(register, output)
    if handle:
        handle._training_state = flat.IDLE
    return output


def pre_backward(state, handle, grad):
    if handle and handle._ran_pre_backward_hook:
        return grad
    shared = state._shared
    if state._is_root and not shared.callback_queued:
        shared.callback_queued = True
        _C.queue_callback(lambda: final_callback(state))
        for each in shared.handles():
            each.reset_grad_info()
    if not handle:
        return grad
    handle._training_state = flat.BACKWARD_PRE
    if handle._needs_pre_backward_unshard:
        if not handle._prefetched:
            unshard(state, handle)
        torch.cuda.current_stream().wait_stream(shared.unshard_stream)
    handle._needs_pre_backward_unshard = False
    prefetch(state, handle)
    handle.prepare_gradient_for_backward()
    handle._ran_pre_backward_hook = True
    return grad


def frees_in_backward(state, handle):
    if not handle.uses_sharded_strategy:
        return False
    return state._sync_gradients or handle._strategy in _RESHARDED_AFTER_FORWARD


def post_backward(state, handle):
    with torch.no_grad():
        _post_backward(state, handle)


def _post_backward(state, handle):
    flat_param, shared = handle.flat_param, state._shared
    handle._post_backward_called = True
    handle._training_state = flat.BACKWARD_POST
    if flat_param.grad is None:
        return
    reshard(state, handle, frees_in_backward(state, handle))
    prefetch(state, handle)
    if not state._sync_gradients:
        if handle._use_orig_params:
            handle._use_unsharded_grad_views()
        return
    shared.post_backward_stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(shared.post_backward_stream):
        computed = flat_param.grad.data
        if flat_param.grad.dtype != handle._reduce_dtype:
            flat_param.grad.data = flat_param.grad.to(handle._reduce_dtype)
        if handle.uses_sharded_strategy:
            _reduce(state, handle)
        else:
            _reduce_whole(state, handle)
        computed.record_stream(shared.post_backward_stream)


def _div(tensor, factor):
    if factor > 1:
        tensor.div_(factor)


def _reduce(state, handle):
    flat_param, shared = handle.flat_param, state._shared
    unsharded_grad = flat_param.grad.data
    flat_param.grad = None
    _C.name_memory(unsharded_grad, handle._module, "FSDP: unsharded gradient of the flat parameter")
    chunks = list(unsharded_grad.chunk(handle.world_size))
    missing = handle.world_size * chunks[0].numel() - unsharded_grad.numel()
    padded = torch.nn.functional.pad(unsharded_grad, [0, missing]) if missing > 0 else unsharded_grad
    if missing > 0:
        _C.name_memory(padded, handle._module, "FSDP: padded gradient, to be reduced")
    sharded_grad = torch.empty_like(chunks[0])
    _C.name_memory(sharded_grad, handle._module, "FSDP: sharded gradient")
    _div(padded, state._predivide_factor)
    dist.reduce_scatter_tensor(sharded_grad, padded, group=state.process_group)
    if handle._strategy in HYBRID:
        shared.all_reduce_stream.wait_stream(shared.post_backward_stream)
        with torch.cuda.stream(shared.all_reduce_stream):
            sharded_grad.record_stream(shared.all_reduce_stream)
            dist.all_reduce(sharded_grad, group=state._inter_node_pg)
            _div(sharded_grad, state._postdivide_factor)
            _keep(state, handle, sharded_grad)
        return
    _div(sharded_grad, state._postdivide_factor)
    _keep(state, handle, sharded_grad)


def _cast(state, handle, grad):
    """back to the parameter's type"""
    wanted = handle._orig_dtype
    if grad.dtype != wanted:
        low = grad.data
        grad.data = grad.data.to(dtype=wanted)
        low.record_stream(torch.cuda.current_stream())


def _keep(state, handle, sharded_grad):
    _cast(state, handle, sharded_grad)
    if handle._saved_grad_shard is not None:
        handle._saved_grad_shard += sharded_grad
    else:
        handle._saved_grad_shard = sharded_grad
    _after_reduction(state, handle, handle._saved_grad_shard)


def _reduce_whole(state, handle):
    grad = handle.flat_param.grad
    _div(grad, state._predivide_factor)
    dist.all_reduce(grad, group=state.process_group)
    _div(grad, state._postdivide_factor)
    if not handle._keeps_low:
        _cast(state, handle, grad)
    _after_reduction(state, handle, grad.data)


def _after_reduction(state, handle, grad):
    if handle._offload:
        handle._cpu_grad.copy_(grad.detach(), non_blocking=handle.uses_sharded_strategy)
        grad.data.record_stream(state._shared.post_backward_stream)
    if handle._use_orig_params:
        handle._use_sharded_grad_views()


def final_callback(state):
    with torch.no_grad():
        _final_callback(state)


def _final_callback(state):
    shared = state._shared
    if state._sync_gradients:
        current = torch.cuda.current_stream()
        current.wait_stream(shared.post_backward_stream)
        if shared.all_reduce_stream is not shared.default_stream:
            current.wait_stream(shared.all_reduce_stream)
        if state.cpu_offload.offload_params:
            current.synchronize()
    shared.is_first_iteration = False
    shared.post_forward_order.clear()
    for each in shared.states:
        handle = each._handle
        if not handle:
            continue
        if not (_C.same_storage(handle.flat_param, handle._local_shard) and handle._skipped_views is None):
            reshard(each, handle, frees_in_backward(each, handle))
        if handle._hook is not None:
            handle._hook.remove()
            handle._hook = handle._accumulator = None
        if handle.flat_param.requires_grad and each._sync_gradients:
            handle.prepare_gradient_for_optim()
            handle._post_backward_called = False
        handle._ran_pre_backward_hook = handle._needs_pre_backward_unshard = handle._prefetched = False
        handle._post_forward_index = None
        handle._training_state = flat.IDLE
    shared.callback_queued = False


def prefetch(state, current):
    target = _to_prefetch(state, current)
    if target is None:
        return
    before = target._training_state
    target._training_state = flat.FORWARD if current._training_state == flat.FORWARD else flat.BACKWARD_PRE
    unshard(state, target)
    target._training_state = before
    target._prefetched = True


def _to_prefetch(state, current):
    """the handle that was used before this one, in backward; that which was used after it, in forward"""
    shared, when = state._shared, current._training_state
    pre, post = BackwardPrefetch.BACKWARD_PRE, BackwardPrefetch.BACKWARD_POST
    if (when, state.backward_prefetch) in ((flat.BACKWARD_PRE, pre), (flat.BACKWARD_POST, post)):
        index = current._post_forward_index
        if index is None or index == 0 or index - 1 >= len(shared.post_forward_order):
            return None
        target = shared.post_forward_order[index - 1]
        return target if target._needs_pre_backward_unshard and not target._prefetched else None
    if when == flat.FORWARD and state.forward_prefetch:
        index = current._pre_forward_order_index
        if index is None or index + 1 >= len(shared.pre_forward_order):
            return None
        target = shared.pre_forward_order[index + 1]
        return target if target._needs_pre_forward_unshard and not target._prefetched else None
    return None
