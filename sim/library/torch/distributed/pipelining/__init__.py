from torch.distributed.pipelining.schedules import (
    Schedule1F1B, ScheduleDualPipeV, ScheduleGPipe, ScheduleInterleaved1F1B,
    ScheduleInterleavedZeroBubble, ScheduleLoopedBFS, ScheduleZBVZeroBubble,
)
from torch.distributed.pipelining.stage import PipelineStage
