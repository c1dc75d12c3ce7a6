import sys
import torch
import torch._C as _C
import weakref
import torch.distributed as dist
from torch import nn
from torch.cuda.streams import _device_index
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.autograd.function import Function
from torch.nn.parallel._mixed_precision import _lower_inputs, _MixedPrecision, _set_up


class _Sink(Function):
    @staticmethod
    def forward(ctx, ddp, *inputs):
        ctx.ddp = ddp
        ctx.set_materialize_grads(False)
        return tuple([x.clone() if isinstance(x, torch.Tensor) else x for x in inputs])

    @staticmethod
    def backward(ctx, *grad_outputs):
        ddp = ctx.ddp()
        if ddp.static_graph and not ddp._delay_enqueued:
            _C.queue_callback(ddp.reducer.delay_all_reduce)
            ddp._delay_enqueued = True
        return (None, *grad_outputs)


class _NoSync:
    def __init__(self, ddp):
        self.ddp = ddp

    def __enter__(self):
        self.before = self.ddp.require_backward_grad_sync
        self.ddp.require_backward_grad_sync = False

    def __exit__(self, *error):
        self.ddp.require_backward_grad_sync = self.before
        return False


def _tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        found = []
        for item in value:
            found.extend(_tensors_in(item))
        return found
    return []


class _DDPJoinHook(JoinHook):
    def __init__(self, ddp):
        self.ddp = ddp

    def post_hook(self, is_last_joiner):
        """all get the parameters of who joined last"""
        ddp = self.ddp
        ddp._find_common_rank()
        with torch.no_grad():
            ddp._send_states()


def _to_device(value, device):
    """a copy of what lies elsewhere, with all that is around it"""
    if isinstance(value, torch.Tensor):
        if value.device == device:
            return value
        if value.is_cuda:
            _C.refuse(
                "DistributedDataParallel copies inputs of another GPU on a stream of its own: not modelled",
                "move the inputs with .to() before the call",
            )
        return value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_to_device(item, device) for item in value])
    if isinstance(value, (list, tuple)) and len(value) > 0:
        return type(value)([_to_device(item, device) for item in value])
    if isinstance(value, dict) and len(value) > 0:
        return type(value)({key: _to_device(item, device) for key, item in value.items()})
    return value


def _splits_compiled_code():
    """Source: torch._dynamo.utils.get_optimize_ddp_mode"""
    mode = torch._dynamo.config.optimize_ddp
    if mode in ("python_reducer", "python_reducer_without_compiled_forward"):
        _C.refuse(
            f"torch._dynamo.config.optimize_ddp = {mode!r} is not modelled", "leave it at True, or set it to False"
        )
    return mode in (True, "ddp_optimizer")


class DistributedDataParallel(nn.Module, Joinable):
    broadcast_bucket_size = 250 * 1024 * 1024

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=True,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
        delay_all_reduce_named_params=None,
        param_to_hook_all_reduce=None,
        mixed_precision=None,
        device_mesh=None,
        skip_all_reduce_unused_params=False,
        bucket_cap_mb_list=None,
    ):
        super().__init__()
        if (delay_all_reduce_named_params is None) != (param_to_hook_all_reduce is None):
            raise ValueError(
                "delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time."
            )
        if device_mesh is not None:
            if process_group is not None:
                raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
            if device_mesh.ndim != 1:
                raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
            process_group = device_mesh.get_group(0)
            if device_mesh._root is not device_mesh:
                from torch.distributed.tensor.parallel.ddp import _pre_dp_module_transform

                _pre_dp_module_transform(module)
        self.process_group = process_group or dist._get_default_group()
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self._delay_all_reduce_params, self._delay_grad_buffer = [], None
        self._delay_grad_views = []
        for name, p in delay_all_reduce_named_params or ():
            self.parameters_to_ignore.add(name)
            self._delay_all_reduce_params.append(p)
        own = [p for name, p in module.named_parameters() if name not in self.parameters_to_ignore]
        if not any([p.requires_grad for p in own]) and not self._delay_all_reduce_params:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        if not own:
            raise ValueError(
                "DistributedDataParallel's input module must be on the same type of devices, but input module "
                "parameters locate in set()."
            )
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        if not own[0].is_cuda:
            raise RuntimeError("No backend type associated with device type cpu")
        self.device_ids = (
            [torch.cuda._device_of(_device_index(d)) for d in device_ids]
            if device_ids
            else None
        )
        self.module, self.device, self.dim = module, own[0].device, dim
        self.broadcast_buffers, self.find_unused_parameters = broadcast_buffers, find_unused_parameters
        self.require_backward_grad_sync, self.require_forward_param_sync = True, True
        self.gradient_as_bucket_view, self.static_graph, self._delay_enqueued = gradient_as_bucket_view, False, False
        if self._delay_all_reduce_params and not any([p.requires_grad for p in own]):
            _C.refuse("reducing the gradients of all parameters late is not modelled", "leave one of them out")
        own_limits = [int(mb * 1024 * 1024) for mb in bucket_cap_mb_list or ()]
        if own_limits:
            bucket_cap_mb = max(bucket_cap_mb_list)
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * 1024 * 1024)
        first_cap = dist._DEFAULT_FIRST_BUCKET_BYTES if bucket_cap_mb is None else self.bucket_bytes_cap

        if "torch._dynamo.config" in sys.modules:
            _splits_compiled_code()
        if self._delay_all_reduce_params:
            self._reduce_late(25 if bucket_cap_mb is None else bucket_cap_mb, param_to_hook_all_reduce)
        parameters, expect_sparse = self._build_params_for_reducer()
        if init_sync:
            dist._verify_params_across_processes(parameters, self.process_group)
            self._send_states()
        if own_limits:
            limits = own_limits
        elif static_graph or not find_unused_parameters:
            limits = [1 << 62]
        elif bucket_cap_mb is None:
            limits = [first_cap, self.bucket_bytes_cap]
        else:
            limits = [self.bucket_bytes_cap]
        indices = dist._bucket_assignment(parameters, limits, expect_sparse)
        self.reducer = dist._Reducer(
            parameters,
            indices[::-1],
            own_limits or [first_cap, self.bucket_bytes_cap],
            expect_sparse,
            find_unused_parameters,
            gradient_as_bucket_view,
            skip_all_reduce_unused_params,
        )
        self.reducer.process_group = self.process_group
        self.mixed_precision = mixed_precision
        if mixed_precision is not None:
            _set_up(self)
        if static_graph:
            self._set_static_graph()

    def _build_params_for_reducer(self):
        parameters, expect_sparse, seen = [], [], set()
        for module_name, module in self.module.named_modules():
            sparse = isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and module.sparse
            for name, p in module._parameter_items():
                if f"{module_name}.{name}" in self.parameters_to_ignore:
                    continue
                if p is not None and p.requires_grad and id(p) not in seen:
                    seen.add(id(p))
                    parameters.append(p)
                    expect_sparse.append(sparse)
        self._assign_modules_buffers()
        return parameters, expect_sparse

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module, params_and_buffers_to_ignore):
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            if name in params_and_buffers_to_ignore:
                tensor._ddp_ignored = True

    def _assign_modules_buffers(self):
        """the module's buffers as they are now: they live as long as they are sent, also where the module has others"""
        named = {name: b for name, b in self.module.named_buffers() if name not in self.parameters_to_ignore}
        self.modules_buffers, self.named_module_buffers = list(named.values()), named

    def _send_states(self):
        """rank 0's parameters and buffers, to all"""
        named = self.module.named_parameters()
        states = [p.detach() for name, p in named if name not in self.parameters_to_ignore]
        if self.broadcast_buffers:
            buffers = self.module.named_buffers()
            states.extend([b.detach() for name, b in buffers if name not in self.parameters_to_ignore])
        dist._broadcast_coalesced(states, self.broadcast_bucket_size, self.process_group)

    # ---- parameters whose gradients lie in a buffer, which is reduced when one parameter's gradient is there

    def _reduce_late(self, bucket_cap_mb, hooked):
        late = self._delay_all_reduce_params
        device = torch.device("cpu") if self.device_ids is None else self.device_ids[0]
        buffer = self._delay_grad_buffer = torch.zeros(sum([p.numel() for p in late]), device=device)
        _C.set_role(buffer, "gradient")
        _C.name_memory(buffer, None, f"DDP: gradients reduced late, {len(late)} parameters")
        dist._broadcast_coalesced([p.detach() for p in late], bucket_cap_mb, self.process_group)
        hooked.register_hook(self._delayed_all_reduce_hook)
        offset = 0
        for p in late:
            self._delay_grad_views.append(buffer[offset:offset + p.numel()].view(p.shape))
            offset += p.numel()

    def _delayed_all_reduce_hook(self, grad):
        self._delay_grad_buffer.div_(dist.get_world_size(self.process_group))
        dist.all_reduce(self._delay_grad_buffer, group=self.process_group, async_op=True)
        return grad

    def _clear_grad_buffer(self):
        if self._delay_grad_buffer is None:
            return
        has_none = all([p.grad is None for p in self._delay_all_reduce_params])
        for view, p in zip(self._delay_grad_views, self._delay_all_reduce_params):
            if p.grad is None:
                p.grad = view
                if not has_none:
                    p.grad.zero_()
        if has_none:
            self._delay_grad_buffer.zero_()

    def _set_static_graph(self):
        self.static_graph = True
        self.reducer.set_static_graph()

    def register_comm_hook(self, state, hook):
        """buckets are reduced by hook(state, bucket), which gives a future of the result"""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.comm_hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.comm_hook = lambda bucket: hook(state, bucket)

    def _get_ddp_logging_data(self):
        """what is known of it before it ran"""
        return {"can_set_static_graph": False, "static_graph": self.static_graph}

    def no_sync(self):
        return _NoSync(self)

    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        return Join([self], enable, throw_on_early_termination)

    def join_hook(self, **kwargs):
        return _DDPJoinHook(self)

    @property
    def join_device(self):
        return self.device

    @property
    def join_process_group(self):
        return self.process_group

    def _find_common_rank(self):
        rank_to_use = torch.tensor([0], device=self.device)  # this one; the sum is the others'
        dist.all_reduce(rank_to_use, op=dist.ReduceOp.MAX, group=self.process_group)

    def _tell_joined(self):
        """whether gradients will be reduced in this iteration"""
        requires_sync = torch.ones(1, device=self.device)
        dist.all_reduce(requires_sync, group=self.process_group, async_op=True)

    def forward(self, *inputs, **kwargs):
        inputs, kwargs = self._pre_forward(*inputs, **kwargs)
        return self._post_forward(self._run_ddp_forward(*inputs, **kwargs))

    def _run_ddp_forward(self, *inputs, **kwargs):
        # What is compiled meanwhile is split where buckets end (torch/_dynamo/convert_frame.py).
        compiles = "torch._dynamo.eval_frame" in sys.modules
        before = _C.set_bucket_cap(self.bucket_bytes_cap if compiles and _splits_compiled_code() else 0)
        try:
            return self.module(*inputs, **kwargs)
        finally:
            _C.set_bucket_cap(before)

    def _pre_forward(self, *inputs, **kwargs):
        if torch.is_grad_enabled() and self.require_backward_grad_sync:
            self.reducer.prepare_for_forward()
        work = Join.notify_join_context(self)
        if work is not None:
            self.reducer.forward_work = work
            del work
        if torch.is_grad_enabled():
            self.reducer.rebuild_buckets()
        if self.broadcast_buffers and self.require_forward_param_sync:
            if self.modules_buffers:
                if self._join_config.enable:
                    self._find_common_rank()
                self._assign_modules_buffers()
                with torch.no_grad():
                    dist._broadcast_coalesced(self.modules_buffers, self.broadcast_bucket_size, self.process_group)
        if self._join_config.enable:
            self._tell_joined()
        if self.device_ids is not None:
            inputs, kwargs = _to_device(inputs, self.device_ids[0]), _to_device(kwargs, self.device_ids[0])
        if self.mixed_precision is not None:
            inputs, kwargs = _lower_inputs(self.mixed_precision.param_dtype, (inputs, kwargs))
        return inputs, kwargs

    def _post_forward(self, output):
        if torch.is_grad_enabled() and self.require_backward_grad_sync:
            self.require_forward_param_sync = True
            detects = self.find_unused_parameters and not self.static_graph
            self.reducer.prepare_for_backward(_tensors_in(output) if detects else [])
        else:
            self.require_forward_param_sync = False
        if (self.find_unused_parameters and not self.static_graph) or (self.static_graph and not self._delay_enqueued):
            output = self._through_sink(output)
        self._clear_grad_buffer()
        return output

    def _through_sink(self, output):
        """all tensors go through; those that no function made stay as they are"""
        if isinstance(output, torch.Tensor):
            passed = _Sink.apply(weakref.ref(self), output)[0]
            return output if output.grad_fn is None else passed
        if isinstance(output, (list, tuple)):
            passed = _Sink.apply(weakref.ref(self), *output)
            return type(output)(
                [
                    new if isinstance(old, torch.Tensor) and old.grad_fn is not None else old
                    for old, new in zip(output, passed)
                ]
            )
        if isinstance(output, dict):
            return dict(zip(output.keys(), self._through_sink(list(output.values()))))
        _C.refuse(
            "DistributedDataParallel: outputs of type " + type(output).__name__ + " are not modelled here",
            "return tensors",
        )
