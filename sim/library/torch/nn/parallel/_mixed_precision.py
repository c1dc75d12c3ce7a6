import torch
import weakref
from dataclasses import dataclass


@dataclass
class _MixedPrecision:
    param_dtype: object = None
    reduce_dtype: object = None
    buffer_dtype: object = None


def _make_low_parameters(config, module):
    """what holds the parameters in low precision during a pass; empty until then"""
    from torch.distributed.fsdp._fully_shard._fsdp_param import free_storage

    for param in module.parameters():
        if not hasattr(param, "_mp_param"):
            param._mp_param = torch.zeros_like(param, dtype=config.param_dtype, requires_grad=param.requires_grad)
            free_storage(param._mp_param)
            param._fp_param = param.data
    for buffer in module.buffers():
        buffer.data = buffer.to(dtype=config.buffer_dtype)


def _lower(ddp):
    """the parameters, copied on a stream of their own; an event for each module"""
    from torch.distributed.fsdp._fully_shard._fsdp_param import alloc_storage

    dtype = ddp.mixed_precision.param_dtype
    ddp._copied = {}
    with torch.cuda.stream(ddp._mp_stream):
        for submodule in ddp.module.modules():
            for param in submodule.parameters(recurse=False):
                alloc_storage(param._mp_param)
                with torch.no_grad():
                    param._mp_param.copy_(param.data)
                    if param.grad is not None:
                        param.grad.data = param.grad.to(dtype)
                param.data = param._mp_param
            ddp._copied[id(submodule)] = ddp._mp_stream.record_event()


def _lower_inputs(dtype, values):
    from torch.distributed.fsdp._fully_shard._fsdp_common import _apply_to_tensors, _cast_fp_tensor

    return _apply_to_tensors(lambda x: _cast_fp_tensor(dtype, x), values)


def _set_up(ddp):
    from torch.distributed.algorithms.ddp_comm_hooks import mixed_precision_hooks as hooks

    _make_low_parameters(ddp.mixed_precision, ddp.module)
    ddp._mp_stream, ddp._copied = torch.cuda.Stream(), {}
    own = weakref.ref(ddp)

    def lower(module, inputs):
        _lower(own())

    def wait(module, inputs):
        ddp = own()
        event = ddp._copied.pop(id(module), None)
        if event is None:
            return
        event.wait()
        for p in module.parameters(recurse=False):
            if p.requires_grad:
                p._ddp_mp_hook_state = ddp.reducer.accumulator(p)

    ddp.module.register_forward_pre_hook(lower)
    for module in ddp.module.modules():
        module.register_forward_pre_hook(wait)
    state = hooks._AllreduceUpcastHookState(own, torch.cuda.Stream())
    ddp.register_comm_hook(state, hooks._reducer_allreduce_and_upcast_hook)
    ddp.reducer.set_mixed_precision(ddp.mixed_precision.param_dtype)
