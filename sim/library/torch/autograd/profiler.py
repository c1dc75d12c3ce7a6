from torch.profiler import (
    ExecutionTraceObserver, ProfilerAction, ProfilerActivity, _Averages, _KinetoProfile, emit_itt, emit_nvtx,
    profile, record_function, schedule, supported_activities, tensorboard_trace_handler,
)

EventList = _Averages
