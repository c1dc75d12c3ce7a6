import torch._C as _C


class ProfilerActivity:
    CPU, XPU, MTIA, CUDA, HPU, PrivateUse1 = range(6)


class ProfilerAction:
    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


def supported_activities():
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    cycle = wait + warmup + active

    def action(step):
        step -= skip_first
        if step < 0 or repeat > 0 and step >= repeat * cycle:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    return lambda prof: None


class _Averages(list):
    """no operator is timed: there are none to list"""

    def table(self, *args, **kwargs):
        return ""

    def total_average(self):
        _C.refuse("times of torch.profiler are not modelled", "tidemark run tells times as estimates")


class profile:
    """takes no memory on the device, and measures nothing"""

    def __init__(
        self,
        enabled=True,
        *,
        activities=None,
        schedule=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=None,
        execution_trace_observer=None,
        acc_events=False,
        use_cuda=None,
        use_device=None,
        use_kineto=False,
        **options,
    ):
        self._schedule, self._on_trace_ready = schedule, on_trace_ready
        self.step_num = 0

    def _action(self):
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self.step_num)

    def _ready(self):
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def start(self):
        self.step_num = 0

    def stop(self):
        if self._action() in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._ready()

    def step(self):
        if self._schedule is not None and self._action() == ProfilerAction.RECORD_AND_SAVE:
            self._ready()
        self.step_num += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()
        return False

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        return _Averages()

    def events(self):
        return _Averages()

    def table(self, *args, **kwargs):
        return ""

    def _nothing(self, *args, **kwargs):
        pass

    export_chrome_trace = export_stacks = export_memory_timeline = add_metadata = add_metadata_json = (
        preset_metadata_json
    ) = _nothing


_KinetoProfile = profile


class record_function:
    def __init__(self, name, args=None):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __call__(self, func):
        return func


class emit_nvtx(record_function):
    def __init__(self, enabled=True, record_shapes=False):
        pass


emit_itt = emit_nvtx


def ExecutionTraceObserver(*args, **kwargs):
    _C.refuse("torch.profiler.ExecutionTraceObserver is not modelled")


def kineto_available():
    return True
