import torch
import torch._C as _C
from dataclasses import dataclass
from torch.distributed.fsdp._fully_shard._fsdp_param import free_storage
from torch.futures import Future

# DistributedDataParallel(mixed_precision=). Source: torch.distributed.algorithms.ddp_comm_hooks.mixed_precision_hooks


@dataclass
class _AllreduceUpcastHookState:
    ddp_weakref: object
    upcast_stream: object
    wait_for_stream_enqueued: bool = False


def _reducer_allreduce_and_upcast_hook(hook_state, bucket):
    """a bucket summed in `reduce_dtype`; its parameters and gradients, in their own type again"""
    ddp, stream = hook_state.ddp_weakref(), hook_state.upcast_stream
    if ddp.mixed_precision.param_dtype != ddp.mixed_precision.reduce_dtype:
        bucket.set_buffer(bucket.buffer().to(ddp.mixed_precision.reduce_dtype))
    summed = torch.distributed.all_reduce(bucket.buffer(), group=ddp.process_group, async_op=True).get_future()
    result = Future()
    with torch.cuda.stream(stream):
        summed.wait()
        bucket.buffer().div_(ddp.process_group.size())
        result.set_result(bucket.buffer())
        for p in bucket.parameters():
            p.data = p._fp_param
            free_storage(p._mp_param)
            p.grad.data = p.grad.to(p.data.dtype)

    def wait_for_stream():
        torch.cuda.current_stream().wait_stream(stream)
        for p in ddp.module.parameters():
            p._ddp_mp_hook_state = None
            if not p.requires_grad:
                p.data = p._fp_param
        hook_state.wait_for_stream_enqueued = False

    if not hook_state.wait_for_stream_enqueued:
        _C.queue_callback(wait_for_stream)
        hook_state.wait_for_stream_enqueued = True
    return result
