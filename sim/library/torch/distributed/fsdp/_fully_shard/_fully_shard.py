import torch
from torch.distributed.fsdp._fully_shard._fsdp_api import MixedPrecisionPolicy, OffloadPolicy
from torch.distributed.fsdp._fully_shard._fsdp_init import (
    _default_mesh, _managed_modules, _managed_states, _mesh_info, _move_states_to_device,
    _post_forward_mesh_info, _validate_module,
)
from torch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup
from torch.distributed.fsdp._fully_shard._fsdp_state import FSDPState, _state_of


def fully_shard(
    module,
    *,
    mesh=None,
    reshard_after_forward=None,
    shard_placement_fn=None,
    mp_policy=None,
    offload_policy=None,
    ignored_params=None,
):
    """each rank keeps its part of the parameters. Source: torch.distributed.fsdp._fully_shard"""
    modules = tuple(module) if isinstance(module, (list, tuple)) else (module,)
    # What PyTorch compares the names with afterwards: until then it holds the parameters as they were. The last that
    # it compared goes last.
    originals = [dict(each.named_parameters()) for each in modules]
    _shard(
        modules, mesh, reshard_after_forward, shard_placement_fn, mp_policy, offload_policy, ignored_params
    )
    for original in originals:
        pass
    return module


def _shard(modules, mesh, reshard_after_forward, shard_placement_fn, mp_policy, offload_policy, ignored_params):
    mp_policy = MixedPrecisionPolicy() if mp_policy is None else mp_policy
    offload_policy = OffloadPolicy() if offload_policy is None else offload_policy
    for each in modules:
        _validate_module(each)
        if _state_of(each) is not None:
            raise AssertionError("Each distinct composable distributed API can only be applied to a module once.")
    mesh = _default_mesh() if mesh is None else mesh
    mesh_info = _mesh_info(mesh)
    device = torch.device("cuda", torch.cuda.current_device())
    is_automatic = reshard_after_forward is None
    post_forward = _post_forward_mesh_info(True if is_automatic else reshard_after_forward, mesh_info)
    managed = _managed_modules(modules, ignored_params)
    params, buffers = _managed_states(managed, ignored_params)
    _move_states_to_device(params, device)
    _move_states_to_device(buffers, device)
    state = FSDPState()
    state.init(modules, device, mp_policy, is_automatic)
    if params:
        state._fsdp_param_group = FSDPParamGroup(
            params, modules, mesh_info, post_forward, device, shard_placement_fn, mp_policy, offload_policy
        )
    for each in modules:
        _make_fsdp_module(each)


_classes = {}  # the class of sharded modules, by that which they had


def _make_fsdp_module(module):
    cls = type(module)
    if cls not in _classes:
        _classes[cls] = type("FSDP" + cls.__name__, (FSDPModule, cls), {})
    module.__class__ = _classes[cls]


class FSDPModule:
    """what a sharded module can do beside its own"""

    def reshard(self):
        group = self._get_fsdp_state()._fsdp_param_group
        if group:
            group.reshard()

    def unshard(self, async_op=False):
        group = self._get_fsdp_state()._fsdp_param_group
        if group is not None:
            group.lazy_init()
            group.unshard(async_op)
        handle = UnshardHandle(group)
        if async_op:
            return handle
        handle.wait()
        return None

    def _get_fsdp_state(self):
        return _state_of(self)

    def _groups(self, recurse=True):
        """the parameter groups of the sharded modules at and below this one"""
        modules = list(self.modules()) if recurse else [self]
        states = [_state_of(m) for m in modules if isinstance(m, FSDPModule)]
        return [s._fsdp_param_group for s in states if s._fsdp_param_group]

    def set_is_last_backward(self, is_last_backward):
        self._get_fsdp_state()._state_ctx.is_last_backward = is_last_backward

    def set_requires_gradient_sync(self, requires_gradient_sync, *, recurse=True):
        for group in self._groups(recurse):
            group.reduce_grads = group.all_reduce_grads = requires_gradient_sync

    def set_requires_all_reduce(self, requires_all_reduce, *, recurse=True):
        for group in self._groups(recurse):
            group.all_reduce_grads = requires_all_reduce

    def set_reshard_after_forward(self, reshard_after_forward, recurse=True):
        if not isinstance(reshard_after_forward, bool):
            raise ValueError(f"reshard_after_forward should be a bool, got {type(reshard_after_forward)}")
        for module in list(self.modules()) if recurse else [self]:
            if isinstance(module, FSDPModule):
                _state_of(module)._auto_reshard_after_forward = False
        for group in self._groups(recurse):
            group.post_forward_mesh_info = _post_forward_mesh_info(reshard_after_forward, group.mesh_info)

    def set_reshard_after_backward(self, reshard_after_backward, *, recurse=True):
        for group in self._groups(recurse):
            group.reshard_after_backward = reshard_after_backward

    def set_modules_to_forward_prefetch(self, modules):
        self._get_fsdp_state()._states_to_forward_prefetch = [_checked(m) for m in modules]

    def set_modules_to_backward_prefetch(self, modules):
        self._get_fsdp_state()._states_to_backward_prefetch = [_checked(m) for m in modules]

    def set_custom_all_gather(self, comm):
        for group in self._groups(False):
            group._all_gather_comm = comm

    def set_custom_reduce_scatter(self, comm):
        for group in self._groups(False):
            group._reduce_scatter_comm = comm

    def set_all_reduce_hook(self, hook, *, stream=None):
        for group in self._groups(False):
            group._all_reduce_hook = hook
            if stream is not None:
                if group._is_hsdp:
                    raise ValueError("stream cannot be set when using native HSDP")
                group._all_reduce_hook_stream = stream

    def set_post_optim_event(self, event):
        self._get_fsdp_state()._state_ctx.post_optim_event = event

    def set_gradient_divide_factor(self, factor):
        for group in self._groups(False):
            group.gradient_divide_factor = factor

    def set_reduce_scatter_divide_factor(self, factor):
        self.set_gradient_divide_factor(factor)

    def set_force_sum_reduction_for_comms(self, enable):
        for group in self._groups(False):
            group.force_sum_reduction_for_comms = enable

    def set_unshard_in_backward(self, unshard_in_backward):
        for group in self._groups(False):
            group.unshard_in_backward = unshard_in_backward

    def set_allocate_memory_from_process_group_for_comm(self, enable):
        return None  # NCCL's own allocator is asked for only where it registers buffers

    def _set_unshard_async_op(self, async_op):
        for group in self._groups():
            group.unshard_async_op = async_op

    def _apply(self, fn, *args, **kwargs):
        self.reshard()
        out = super()._apply(fn, *args, **kwargs)
        group = self._get_fsdp_state()._fsdp_param_group
        if group:
            with torch.no_grad():
                for fsdp_param in group.fsdp_params:
                    fsdp_param.reset_sharded_param()
        return out


def _checked(module):
    if not isinstance(module, FSDPModule):
        raise ValueError(f"Expects FSDPModule but got {type(module)}: {module}")
    return _state_of(module)


class UnshardHandle:
    def __init__(self, group):
        self._fsdp_param_group = group

    def wait(self):
        if self._fsdp_param_group is not None:
            self._fsdp_param_group.wait_for_unshard()
            self._fsdp_param_group = None


def register_fsdp_forward_method(module, method_name):
    """a method that gathers parameters before and shards them after, as forward does"""
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    orig_method = getattr(module, method_name)

    def wrapped_method(*args, **kwargs):
        state = module._get_fsdp_state()
        args, kwargs = state._pre_forward(module, args, kwargs)
        out = orig_method(*args, **kwargs)
        return state._post_forward(module, args, out)

    setattr(module, method_name, wrapped_method)
