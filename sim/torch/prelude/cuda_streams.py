# module: torch.cuda
# defines: Stream ExternalStream Event stream StreamContext current_stream default_stream set_stream
import torch
import torch._C as _C


def _device_index(device):
    if device is None:
        return torch.cuda.current_device()
    index = device if isinstance(device, int) else torch.device(device).index
    return torch.cuda.current_device() if index is None else index


class Stream:
    """work in order beside that of other streams; 32 of them a device, given out in turn"""

    def __init__(self, device=None, priority=0, *, stream_id=None, device_index=None, device_type=None):
        if stream_id is not None:
            self._index, self.device_index = 0 if stream_id <= 0 else (stream_id + 29) // 32, device_index
        else:
            if priority != 0:
                _C.refuse(f"torch.cuda.Stream(priority={priority}) is not modelled", "streams of another priority come from a pool of their own: use priority 0")
            self.device_index = _device_index(device)
            self._index = _C.stream_from_pool(self.device_index)
        self.device = torch.device("cuda", self.device_index)
        self.priority = 0

    @property
    def stream_id(self):
        return 0 if self._index == 0 else 32 * self._index - 29

    def record_event(self, event=None):
        if event is None:
            event = Event()
        event.record(self)
        return event

    def wait_event(self, event):
        event.wait(self)

    def wait_stream(self, stream):
        self.wait_event(stream.record_event())

    def synchronize(self):
        _C.synchronize_stream(self.device_index, self._index)

    def query(self):
        _C.refuse("torch.cuda.Stream.query() is not modelled", "what has ended by now is a matter of time, which is only estimated: call synchronize()")

    def __enter__(self):
        self._context = StreamContext(self)
        return self._context.__enter__()

    def __exit__(self, *error):
        return self._context.__exit__(*error)

    def __eq__(self, other):
        return isinstance(other, Stream) and (self._index, self.device_index) == (other._index, other.device_index)

    def __hash__(self):
        return hash((self._index, self.device_index))

    def __repr__(self):
        return f"<torch.cuda.Stream device=cuda:{self.device_index} stream_id={self.stream_id}>"


def ExternalStream(stream_ptr, device=None):
    _C.refuse("torch.cuda.ExternalStream is not modelled", "use torch.cuda.Stream()")


class Event:
    """a point of a stream that others can wait for"""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self._event, self._recorded = _C.make_event(), False

    def record(self, stream=None):
        stream = current_stream() if stream is None else stream
        _C.record_event(self._event, stream.device_index, stream._index)
        self._recorded = True

    def wait(self, stream=None):
        stream = current_stream() if stream is None else stream
        if self._recorded:
            _C.wait_event(self._event, stream.device_index, stream._index)

    def synchronize(self):
        if self._recorded:
            _C.synchronize_event(self._event)

    def query(self):
        if self._recorded:
            _C.refuse("torch.cuda.Event.query() is not modelled", "what has ended by now is a matter of time, which is only estimated: call synchronize()")
        return True

    def elapsed_time(self, end_event):
        return 0.0

    def __repr__(self):
        return f"<torch.cuda.Event {self._event if self._recorded else 'uninitialized'}>"


def current_stream(device=None):
    index = _device_index(device)
    return Stream(stream_id=32 * _C.current_stream(index) - 29, device_index=index)


def default_stream(device=None):
    return Stream(stream_id=0, device_index=_device_index(device))


def set_stream(stream):
    if stream is None:
        return
    torch.cuda.set_device(stream.device_index)
    _C.set_stream(stream.device_index, stream._index)


class StreamContext:
    """makes a stream the current one of its device, and the device the current one"""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        self.before = current_stream()
        self.there = current_stream(self.stream.device_index)
        set_stream(self.stream)

    def __exit__(self, *error):
        if self.stream is None:
            return False
        if self.before.device_index != self.stream.device_index:
            set_stream(self.there)
        set_stream(self.before)
        return False


def stream(stream):
    return StreamContext(stream)
