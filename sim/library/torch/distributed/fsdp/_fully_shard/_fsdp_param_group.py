import torch
import torch._C as _C
from contextlib import contextmanager
from torch.autograd.function import Function
from torch.distributed.fsdp._fully_shard._fsdp_api import AllGather, CPUOffloadPolicy, ReduceScatter
from torch.distributed.fsdp._fully_shard._fsdp_collectives import (
    AllGatherResult, foreach_all_gather, foreach_all_gather_copy_out, foreach_reduce,
)
from torch.distributed.fsdp._fully_shard._fsdp_common import TrainingState
from torch.distributed.fsdp._fully_shard._fsdp_param import (
    FSDPParam, ParamModuleInfo, ShardedState, alloc_storage,
)


class FSDPCommContext:
    """streams, and what is under way on them, of all groups below one root"""

    def __init__(self):
        self.all_gather_copy_in_stream = self.all_gather_stream = None
        self.all_gather_state = self.reduce_scatter_state = None
        self.post_forward_order = []

    def lazy_init(self):
        self.all_gather_copy_in_stream = torch.cuda.Stream(priority=-1)
        self.all_gather_stream = torch.cuda.Stream(priority=-1)
        self.reduce_scatter_stream = torch.cuda.Stream(priority=-1)
        self.all_reduce_stream = torch.cuda.Stream()
        self.all_gather_state = self.reduce_scatter_state = None
        self.post_forward_order = []

    def get_all_gather_streams(self, async_op, training_state):
        if not async_op and training_state in (TrainingState.FORWARD, TrainingState.PRE_BACKWARD):
            return self.all_gather_copy_in_stream, self.all_gather_stream
        current_stream = torch.cuda.current_stream()
        return current_stream, current_stream


class FSDPParamGroup:
    """Parameters that travel together. Source: torch.distributed.fsdp._fully_shard._fsdp_param_group"""

    def __init__(
        self, params, modules, mesh_info, post_forward_mesh_info, device, shard_placement_fn, mp_policy, offload_policy
    ):
        self.modules = modules
        self.fsdp_params = [
            FSDPParam(
                param, info, mesh_info, post_forward_mesh_info, device, shard_placement_fn, mp_policy, offload_policy
            )
            for param, info in zip(params, _param_module_infos(params, modules))
        ]
        self.mesh_info, self.post_forward_mesh_info = mesh_info, post_forward_mesh_info
        self.device, self.mp_policy, self.offload_policy = device, mp_policy, offload_policy
        self._training_state, self._sharded_state = TrainingState.IDLE, ShardedState.SHARDED
        self._module_fqn, self._is_reset, self._has_state_dict_hooks = None, False, False
        self._all_reduce_hook = self._all_reduce_hook_stream = None
        self._all_gather_comm, self._reduce_scatter_comm = AllGather(), ReduceScatter()
        self.comm_ctx = FSDPCommContext()
        self._post_forward_indices = []
        self.reduce_grads = self.all_reduce_grads = self.reshard_after_backward = True
        self.gradient_divide_factor = None
        self.force_sum_reduction_for_comms = self.unshard_async_op = False
        self.unshard_in_backward = True
        self._all_gather_result = self._post_reduce_event = self._reshard_after_forward_event = None
        self._partial_reduce_output = self._all_reduce_state = None

    def lazy_init(self):
        if self.is_sharded and not self._is_reset:
            for fsdp_param in self.fsdp_params:
                fsdp_param.reset_sharded_param()
            self._is_reset = True
        self._validate()
        for fsdp_param in self.fsdp_params:
            fsdp_param.init_dtype_attrs(self.mp_policy)
            info = fsdp_param._module_info
            _C.name_memory(fsdp_param._sharded_param_data, info.module, "FSDP: part of a parameter", info.param_name)
        trained = [p for p in self.fsdp_params if p.sharded_param.requires_grad]
        originals = {p.orig_dtype for p in trained}
        if len(originals) > 1:
            raise AssertionError(f"FSDP expects uniform original parameter dtype but got {originals}")
        self._orig_dtype = trained[0].orig_dtype if trained else None
        self._reduce_dtype = trained[0].reduce_dtype if trained else None
        if not self._has_state_dict_hooks:
            self._has_state_dict_hooks = True
            for module in {id(p._module_info.module): p._module_info.module for p in self.fsdp_params}.values():
                module.register_state_dict_pre_hook(lambda *args: self._to_sharded())
                module._register_load_state_dict_pre_hook(lambda *args: self._to_sharded())

    def _validate(self):
        names = [p._param_fqn for p in self.fsdp_params if p.sharded_param.device.type == "meta"]
        if names:
            raise RuntimeError(
                "FSDP parameters should be materialized from meta device before training, "
                f"but the following were still on meta device: {names}\n"
                "For example, call module.to_empty(device) to materialize to device and "
                "call module.reset_parameters() on each module to initialize values."
            )
        if isinstance(self.offload_policy, CPUOffloadPolicy):
            if any([p.sharded_param.device.type != "cpu" for p in self.fsdp_params]):
                raise RuntimeError("FSDP parameters should be materialized on CPU when enabling CPU offloading.")

    # ---- gathering

    def unshard(self, async_op=False):
        if self._all_gather_result is not None or self.is_unsharded:
            return
        if not self.unshard_in_backward and self._training_state == TrainingState.PRE_BACKWARD:
            return
        if self._reshard_after_forward_event is not None:
            self._wait_all_gather_streams_on_event(self._reshard_after_forward_event)
            self._reshard_after_forward_event = None
        if self._world_size == 1:
            event = torch.cuda.current_stream().record_event()
            self._all_gather_result = AllGatherResult(None, event, None, [], [], [])
            return
        self._all_gather_result = foreach_all_gather(
            self.fsdp_params, self._all_gather_process_group, async_op,
            *self.comm_ctx.get_all_gather_streams(async_op, self._training_state), self.device, self._all_gather_comm
        )

    def wait_for_unshard(self):
        """in forward what was gathered is kept until the next is copied out; else it goes at once"""
        if not self._all_gather_result:
            return
        async_op = self._all_gather_result.all_gather_work is not None
        previous = self.comm_ctx.all_gather_state if self._training_state == TrainingState.FORWARD else None
        if previous is not None:  # which goes with this call
            self._wait_all_gather_streams_on_event(previous[1])
            self.comm_ctx.all_gather_state = None
        world_size = self._world_size
        if world_size == 1:
            for fsdp_param in self.fsdp_params:
                all_gather_input = fsdp_param.all_gather_inputs[0]
                fsdp_param.init_all_gather_outputs(
                    [all_gather_input.numel()], [all_gather_input.dtype], 1, self.device
                )
                alloc_storage(fsdp_param.all_gather_outputs[0])
                fsdp_param.all_gather_outputs[0].copy_(all_gather_input)
        else:
            foreach_all_gather_copy_out(
                self._all_gather_result, self.fsdp_params, self._all_gather_process_group
            )
        for fsdp_param in self.fsdp_params:
            fsdp_param.init_unsharded_param()
        self._to_unsharded()
        event = torch.cuda.Event()
        event.record()
        if not async_op and self._training_state == TrainingState.FORWARD and world_size > 1:
            self.comm_ctx.all_gather_state = (self._all_gather_result, event)
        else:
            self._wait_all_gather_streams_on_event(event)
        self._all_gather_result = None

    def _wait_all_gather_streams_on_event(self, event):
        for stream in (self.comm_ctx.all_gather_copy_in_stream, self.comm_ctx.all_gather_stream):
            if stream is not None and event is not None:
                stream.wait_event(event)

    def reshard(self):
        if self._training_state == TrainingState.FORWARD:
            if self.post_forward_mesh_info is None:
                return
            if not self.post_forward_mesh_info.is_of(self.mesh_info):
                self._to_sharded_post_forward()
                self._reshard_after_forward_event = torch.cuda.Event()
                self._reshard_after_forward_event.record()
                return
        self._to_sharded()

    # ---- a pass

    def pre_forward(self, module, args, kwargs):
        self._training_state = TrainingState.FORWARD
        self.unshard(self.unshard_async_op)
        self.wait_for_unshard()
        return self._register_post_backward_hook(args, kwargs)

    def post_forward(self, module, input, output):
        if not _C.in_backward():
            self.reshard()
            self._post_forward_indices.append(len(self.comm_ctx.post_forward_order))
            self.comm_ctx.post_forward_order.append(self)
        self._training_state = TrainingState.IDLE
        return output

    def pre_backward(self, default_prefetch):
        if self._training_state == TrainingState.PRE_BACKWARD:
            return
        self._training_state = TrainingState.PRE_BACKWARD
        self.unshard(self.unshard_async_op)
        self.wait_for_unshard()
        if default_prefetch:
            self._backward_prefetch()

    def post_backward(self):
        self._training_state = TrainingState.POST_BACKWARD
        for fsdp_param in self.fsdp_params:
            fsdp_param.accumulate_unsharded_grad_if_needed()
        if not self.reduce_grads:
            if self.reshard_after_backward:
                self.reshard()
            for fsdp_param in self.fsdp_params:
                if fsdp_param._unsharded_param is not None:
                    fsdp_param.to_accumulated_grad_if_needed()
            return
        fsdp_params_with_grad, unsharded_grads = [], []
        for fsdp_param in self.fsdp_params:
            if fsdp_param._unsharded_param is None:
                continue
            if fsdp_param.unsharded_accumulated_grad is not None:
                fsdp_params_with_grad.append(fsdp_param)
                unsharded_grads.append(fsdp_param.unsharded_accumulated_grad_data)
                fsdp_param.unsharded_accumulated_grad = None
            elif fsdp_param.unsharded_param.grad is not None:
                fsdp_params_with_grad.append(fsdp_param)
                unsharded_grads.append(fsdp_param.unsharded_grad_data)
                fsdp_param.unsharded_param.grad = None
        if self.reshard_after_backward:
            self.reshard()
        if len(fsdp_params_with_grad) == 0:
            return
        if self.comm_ctx.reduce_scatter_state is not None:
            torch.cuda.current_stream().wait_event(self.comm_ctx.reduce_scatter_state[1])
        self.comm_ctx.reduce_scatter_state = None
        info = self.mesh_info
        reduce_group = info.replicate_process_group if info.replicates else None
        stream = self._all_reduce_hook_stream
        if reduce_group is not None or stream is None:
            stream = self.comm_ctx.all_reduce_stream
        self._wait_for_post_backward()
        done = foreach_reduce(
            self, fsdp_params_with_grad, unsharded_grads, info.shard_process_group if info.shards else None,
            reduce_group, stream
        )
        self._post_reduce_event, self._partial_reduce_output = done.post_reduce_event, done.partial_reduce_output
        self.comm_ctx.reduce_scatter_state = (done.reduce_scatter_input, done.reduce_scatter_event)
        if done.all_reduce_input is not None:
            self._all_reduce_state = (done.all_reduce_input, done.all_reduce_event)

    def finalize_backward(self):
        self._wait_for_post_backward()
        for fsdp_param in self.fsdp_params:
            if fsdp_param.grad_offload_event is not None:
                fsdp_param.grad_offload_event.synchronize()
                fsdp_param.grad_offload_event = None
        if self._all_gather_result is not None:
            torch.cuda.current_stream().wait_event(self._all_gather_result.all_gather_event)
            if self._all_gather_result.all_gather_work is not None:
                self._all_gather_result.all_gather_work.wait()
            self._all_gather_result = None
        self._post_forward_indices.clear()

    def _wait_for_post_backward(self):
        if self._post_reduce_event is not None:
            torch.cuda.current_stream().wait_event(self._post_reduce_event)
            self._post_reduce_event = None
        if self._all_reduce_state is not None:
            torch.cuda.current_stream().wait_event(self._all_reduce_state[1])
        self._all_reduce_state = None

    def _backward_prefetch(self):
        if not self._post_forward_indices:
            return
        target = self._post_forward_indices.pop() - 1
        if target >= 0:
            self._prefetch_unshard(self.comm_ctx.post_forward_order[target], TrainingState.PRE_BACKWARD)

    @staticmethod
    def _prefetch_unshard(target, training_state):
        with target.use_training_state(training_state):
            target.unshard(target.unshard_async_op)

    @contextmanager
    def use_training_state(self, training_state):
        old_training_state = self._training_state
        self._training_state = training_state
        try:
            yield
        finally:
            self._training_state = old_training_state

    def _register_post_backward_hook(self, args, kwargs):
        """the inputs pass through a node whose backward comes after that of the modules"""
        if not torch.is_grad_enabled():
            return args, kwargs
        found = [x for x in [*args, *kwargs.values()] if isinstance(x, torch.Tensor) and x.requires_grad]
        if not found:
            return args, kwargs
        passed = list(_PostBackward.apply(self, *found))
        new_args = tuple([
            passed.pop(0) if isinstance(x, torch.Tensor) and x.requires_grad else x for x in args
        ])
        new_kwargs = {
            k: passed.pop(0) if isinstance(x, torch.Tensor) and x.requires_grad else x for k, x in kwargs.items()
        }
        return new_args, new_kwargs

    # ---- states

    def _to_sharded(self):
        if not self.is_sharded:
            for fsdp_param in self.fsdp_params:
                fsdp_param.to_sharded()
            self._sharded_state = ShardedState.SHARDED

    def _to_sharded_post_forward(self):
        if self._sharded_state != ShardedState.SHARDED_POST_FORWARD:
            for fsdp_param in self.fsdp_params:
                fsdp_param.to_sharded_post_forward()
            self._sharded_state = ShardedState.SHARDED_POST_FORWARD

    def _to_unsharded(self):
        if not self.is_unsharded:
            for fsdp_param in self.fsdp_params:
                fsdp_param.to_unsharded()
            self._sharded_state = ShardedState.UNSHARDED

    @property
    def is_sharded(self):
        return self._sharded_state == ShardedState.SHARDED

    @property
    def is_unsharded(self):
        return self._sharded_state == ShardedState.UNSHARDED

    @property
    def _is_hsdp(self):
        return self.mesh_info.shards and self.mesh_info.replicates

    @property
    def _world_size(self):
        return self._all_gather_process_group.size() if self.mesh_info.shards else 1

    @property
    def _all_gather_process_group(self):
        after_forward = self._sharded_state == ShardedState.SHARDED_POST_FORWARD
        return (self.post_forward_mesh_info if after_forward else self.mesh_info).shard_process_group


def _param_module_infos(params, modules):
    infos = {}
    for module in modules:
        for _, submodule in module.named_modules(remove_duplicate=False):
            for name, param in submodule._parameter_items():
                if param is None or not any([param is p for p in params]):
                    continue
                if id(param) not in infos:
                    infos[id(param)] = ParamModuleInfo(submodule, name)
                elif (submodule, name) not in infos[id(param)].places:
                    infos[id(param)].places.append((submodule, name))
    return [infos[id(param)] for param in params]


class _PostBackward(Function):
    @staticmethod
    def forward(ctx, param_group, *inputs):
        ctx.param_group = param_group
        return inputs

    @staticmethod
    def backward(ctx, *grads):
        ctx.param_group.post_backward()
        return (None,) + grads
