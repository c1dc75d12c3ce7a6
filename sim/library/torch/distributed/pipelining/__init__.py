import torch._C as _C
from torch.distributed.pipelining.schedules import (
    Schedule1F1B, ScheduleDualPipeV, ScheduleGPipe, ScheduleInterleaved1F1B,
    ScheduleInterleavedZeroBubble, ScheduleLoopedBFS, ScheduleZBVZeroBubble,
)
from torch.distributed.pipelining.stage import PipelineStage


def pipeline(module, mb_args, mb_kwargs=None, split_spec=None, split_policy=None):
    _C.refuse(
        "pipeline(), which traces a model and cuts its graph, is not modelled",
        "cut the model itself: PipelineStage(part, index, count, device, input_args=..., output_args=...)",
    )
