import torch
import torch._C as _C
from torch.distributed.fsdp._fully_shard._fsdp_common import (
    TrainingState, _apply_to_tensors, _cast_fp_tensor, _tensors_of,
)
from torch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPCommContext, FSDPParamGroup


class FSDPStateContext:
    """what all states below one root share"""

    def __init__(self):
        self.all_states, self.iter_forward_root = [], None
        self.post_backward_final_callback_queued, self.is_last_backward = False, True
        self.post_optim_event = None


class FSDPState:
    """what `fully_shard` adds to a module, or to several as one. Source: torch's _fsdp_state.FSDPState"""

    def __init__(self):
        self._fsdp_param_group = self._is_root = None
        self._state_ctx, self._comm_ctx = FSDPStateContext(), FSDPCommContext()
        self._training_state = TrainingState.IDLE
        self._states_to_forward_prefetch, self._states_to_backward_prefetch = [], []
        self._modules_to_run_forward = []

    def init(self, modules, device, mp_policy, auto_reshard_after_forward):
        for module in modules:
            module.__dict__["_fsdp_state"] = self
        self._modules, self._device, self._mp_policy = modules, device, mp_policy
        self._auto_reshard_after_forward = auto_reshard_after_forward
        if len(modules) == 1:
            modules[0].register_forward_pre_hook(self._pre_forward, prepend=True, with_kwargs=True)
            modules[0].register_forward_hook(self._post_forward)
            return
        for module in modules:
            module.register_forward_pre_hook(self._first_pre_forward, prepend=True, with_kwargs=True)
            module.register_forward_hook(self._last_post_forward)

    def _first_pre_forward(self, module, args, kwargs):
        if self._modules_to_run_forward:
            return None
        self._modules_to_run_forward = list(self._modules)
        return self._pre_forward(module, args, kwargs)

    def _last_post_forward(self, module, input, output):
        self._modules_to_run_forward = [m for m in self._modules_to_run_forward if m is not module]
        return None if self._modules_to_run_forward else self._post_forward(module, input, output)

    # ---- the first forward pass

    def _lazy_init(self):
        if self._is_root is not None:
            return
        self._is_root = True
        if len(self._modules) > 1:
            raise RuntimeError(f"FSDP requires a single root module but got {self._modules}")
        root = self._modules[0]
        states = []
        for module_name, module in root.named_modules():
            state = _state_of(module)
            if state is None:
                continue
            if module is not root:
                if state not in states and state._is_root is not None:
                    raise RuntimeError(
                        f"FSDP state has already been lazily initialized for {module_name}\n"
                        "FSDP requires running forward through the root module first"
                    )
                state._is_root = False
            states.append(state)
        self._state_ctx.all_states = states
        if self._fsdp_param_group and self._auto_reshard_after_forward:
            self._fsdp_param_group.post_forward_mesh_info = None
        self._name_parameters(root)
        self._comm_ctx.lazy_init()
        for state in states:
            state._state_ctx, state._comm_ctx = self._state_ctx, self._comm_ctx
            if state._fsdp_param_group:
                state._fsdp_param_group.comm_ctx = self._comm_ctx
        for state in states:
            if state._fsdp_param_group:
                state._fsdp_param_group.lazy_init()

    def _name_parameters(self, root):
        groups = [s._fsdp_param_group for s in self._state_ctx.all_states if s._fsdp_param_group]
        by_param = {id(p.sharded_param): p for group in groups for p in group.fsdp_params}
        for name, param in root.named_parameters():
            if id(param) in by_param:
                by_param[id(param)]._param_fqn = name

    # ---- a pass

    def _root_pre_forward(self, module, args, kwargs):
        self._lazy_init()
        if self._state_ctx.iter_forward_root is not None:
            return args, kwargs
        self._state_ctx.iter_forward_root = self
        event = self._state_ctx.post_optim_event
        streams = (self._comm_ctx.all_gather_copy_in_stream, self._comm_ctx.all_gather_stream)
        if event is not None:
            for stream in streams:
                stream.wait_event(event)
            self._state_ctx.post_optim_event = None
        else:
            current_stream = torch.cuda.current_stream()
            for stream in streams:
                stream.wait_stream(current_stream)
        move = self._to_device
        return _apply_to_tensors(move, args), _apply_to_tensors(move, kwargs)

    def _to_device(self, x):
        return x if x.device == self._device else x.to(self._device)

    def _pre_forward(self, module, args, kwargs):
        if self._training_state == TrainingState.PRE_BACKWARD:
            if self._fsdp_param_group and not self._fsdp_param_group.is_unsharded:
                self._fsdp_param_group.unshard()
                self._fsdp_param_group.wait_for_unshard()
            return args, kwargs
        self._training_state = TrainingState.FORWARD
        args, kwargs = self._root_pre_forward(module, args, kwargs)
        dtype = self._mp_policy.param_dtype
        if self._mp_policy.cast_forward_inputs and dtype:
            args = _apply_to_tensors(lambda x: _cast_fp_tensor(dtype, x), args)
            kwargs = _apply_to_tensors(lambda x: _cast_fp_tensor(dtype, x), kwargs)
        if self._fsdp_param_group:
            args, kwargs = self._fsdp_param_group.pre_forward(module, args, kwargs)
        for state in self._states_to_forward_prefetch:
            if state._fsdp_param_group is not None:
                FSDPParamGroup._prefetch_unshard(state._fsdp_param_group, TrainingState.FORWARD)
        return args, kwargs

    def _post_forward(self, module, input, output):
        if self._training_state == TrainingState.PRE_BACKWARD:
            return output
        if self._fsdp_param_group:
            output = self._fsdp_param_group.post_forward(module, input, output)
        if torch.is_grad_enabled():
            for t in _tensors_of(output):
                if t.requires_grad:
                    t.register_hook(self._pre_backward)
        self._training_state = TrainingState.IDLE
        if self._state_ctx.iter_forward_root is self:
            last = self._comm_ctx.all_gather_state
            if last is not None:
                event = last[1]
                self._comm_ctx.all_gather_copy_in_stream.wait_event(event)
                self._comm_ctx.all_gather_stream.wait_event(event)
                self._comm_ctx.all_gather_state = None
            self._state_ctx.iter_forward_root = None
        dtype = self._mp_policy.output_dtype
        if dtype is not None:
            output = _apply_to_tensors(lambda x: _cast_fp_tensor(dtype, x), output)
        return output

    def _pre_backward(self, grad):
        self._training_state = TrainingState.PRE_BACKWARD
        if not self._state_ctx.post_backward_final_callback_queued:
            self._state_ctx.post_backward_final_callback_queued = True
            _C.queue_callback(self._root_post_backward_final_callback)
        if self._fsdp_param_group:
            self._fsdp_param_group.pre_backward(len(self._states_to_backward_prefetch) == 0)
        for state in self._states_to_backward_prefetch:
            if state._fsdp_param_group is not None:
                FSDPParamGroup._prefetch_unshard(state._fsdp_param_group, TrainingState.PRE_BACKWARD)
        return grad

    def _root_post_backward_final_callback(self):
        for state in self._state_ctx.all_states:
            group = state._fsdp_param_group
            if group and group._training_state != TrainingState.POST_BACKWARD:
                group.post_backward()
            state._training_state = TrainingState.IDLE
            if group:
                group._training_state = TrainingState.IDLE
            if self._state_ctx.is_last_backward:
                state._modules_to_run_forward = []
                if group:
                    group.finalize_backward()
        if self._state_ctx.is_last_backward:
            self._comm_ctx.post_forward_order.clear()
            if self._comm_ctx.reduce_scatter_state is not None:
                torch.cuda.current_stream().wait_event(self._comm_ctx.reduce_scatter_state[1])
                self._comm_ctx.reduce_scatter_state = None
        self._state_ctx.post_backward_final_callback_queued = False


def _state_of(module):
    return module.__dict__.get("_fsdp_state")
