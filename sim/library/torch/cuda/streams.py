import torch
import torch._C as _C


# Numbers of devices are for the library alone: what a program reads of them may be another on other ranks.
_device_index = torch.cuda._number_of


# A device's streams by number: 0, the default one; then 32 of each priority from 0 to -3; then those that others made.
_POOL, _PRIORITIES = 32, 4
_MADE_ELSEWHERE = 1 + _POOL * _PRIORITIES
_FIRST_HANDLE, _HANDLE = 0x2F0000000000, 0x1000
_others = {}  # number by handle


def _handle(device_index, number):
    if number == 0:
        return 0
    if number >= _MADE_ELSEWHERE:
        return [handle for handle, other in _others.items() if other == number][0]
    priority, place = (number - 1) // _POOL, (number - 1) % _POOL
    return _FIRST_HANDLE + _HANDLE * (_POOL * _PRIORITIES * device_index + _PRIORITIES * place + priority)


def _number(device_index, handle):
    place = (handle - _handle(device_index, 1)) // _HANDLE
    if 0 <= place < _POOL * _PRIORITIES and _handle(device_index, 1) + _HANDLE * place == handle:
        return 1 + place % _PRIORITIES * _POOL + place // _PRIORITIES
    if handle not in _others:
        _others[handle] = _MADE_ELSEWHERE + len(_others)
    return _others[handle]


_capturing = []  # (graph, its streams by number) of the capture under way
_JOIN_CAPTURE = 5  # PoolAction of sim/program/instruction.h


def _join_capture(stream, recorded_on):
    """a stream that waits for one that captures takes part"""
    graph, streams = _capturing[0]
    if recorded_on in streams and stream._index not in streams:
        streams.append(stream._index)
        _C.use_pool(_JOIN_CAPTURE, graph._pool[0], graph._pool[1], stream._device, stream._index)


class Stream:
    """work in order beside that of other streams; 32 of each priority a device, given out in turn"""

    def __init__(self, device=None, priority=0, *, stream_id=None, device_index=None, device_type=None):
        if stream_id is None:
            self._device = _device_index(device)
            self._index = _C.stream_from_pool(self._device, -max([min([priority, 0]), 1 - _PRIORITIES]))
        else:
            self._device = _device_index(device_index)
            if stream_id >= _POOL * _POOL:
                self._index = _number(self._device, stream_id)
            else:
                self._index = 0 if stream_id <= 0 else 1 + stream_id // _POOL + (stream_id % _POOL - 3) // 2 * _POOL
        self.device = torch.cuda._device_of(self._device)

    @property
    def device_index(self):
        return torch.cuda._told(self._device)

    @staticmethod
    def priority_range():
        return (0, 1 - _PRIORITIES)

    @property
    def priority(self):
        return 0 if self._index == 0 or self._index >= _MADE_ELSEWHERE else -((self._index - 1) // _POOL)

    @property
    def stream_id(self):
        if self._index == 0 or self._index >= _MADE_ELSEWHERE:
            return self.cuda_stream
        return _POOL * ((self._index - 1) % _POOL) + 3 - 2 * self.priority

    @property
    def cuda_stream(self):
        return _handle(self._device, self._index)

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
        _C.synchronize_stream(self._device, self._index)

    def query(self):
        ended = _C.query_stream(self._device, self._index)
        if ended is None:
            _C.refuse(
                "torch.cuda.Stream.query() is not modelled under the event policies sync and lag",
                "record an event and query that, or use the policy simulated or ready",
            )
        return ended

    def __enter__(self):
        self._context = StreamContext(self)
        return self._context.__enter__()

    def __exit__(self, *error):
        return self._context.__exit__(*error)

    def __eq__(self, other):
        return isinstance(other, Stream) and (self._index, self._device) == (other._index, other._device)

    def __hash__(self):
        return hash((self._index, self._device))

    def __repr__(self):
        return f"<torch.cuda.Stream device=cuda:{self.device_index} cuda_stream={hex(self.cuda_stream)}>"


class ExternalStream(Stream):
    """a stream that somebody else made; 0 is no such stream, and takes one of the pool's"""

    def __init__(self, stream_ptr, device=None):
        if stream_ptr == 0:
            super().__init__(device)
        else:
            index = _device_index(device)
            super().__init__(stream_id=stream_ptr, device_index=index)


class Event:
    """a point of a stream that others can wait for"""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self._event, self._recorded = _C.make_event(), False

    def record(self, stream=None):
        stream = current_stream() if stream is None else stream
        _C.record_event(self._event, stream._device, stream._index)
        self._recorded, self._recorded_on = True, stream._index

    def wait(self, stream=None):
        stream = current_stream() if stream is None else stream
        if self._recorded:
            _C.wait_event(self._event, stream._device, stream._index)
            if _capturing:
                _join_capture(stream, self._recorded_on)

    def synchronize(self):
        if self._recorded:
            _C.synchronize_event(self._event)

    def query(self):
        return not self._recorded or _C.query_event(self._event)

    def elapsed_time(self, end_event):
        return 0.0

    def __repr__(self):
        return f"<torch.cuda.Event {self._event if self._recorded else 'uninitialized'}>"


def _stream_of(device, number):
    made = object.__new__(Stream)
    made._device, made._index, made.device = device, number, torch.cuda._device_of(device)
    return made


def _current_stream(device):
    return _stream_of(device, _C.current_stream(device))


def current_stream(device=None):
    return _current_stream(_device_index(device))


def default_stream(device=None):
    return _stream_of(_device_index(device), 0)


def set_stream(stream):
    if stream is None:
        return
    torch.cuda._use(stream._device)
    _C.set_stream(stream._device, stream._index)


class StreamContext:
    """makes a stream the current one of its device, and the device the current one"""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        self.before = current_stream()
        self.there = _current_stream(self.stream._device)
        set_stream(self.stream)

    def __exit__(self, *error):
        if self.stream is None:
            return False
        if self.before._device != self.stream._device:
            set_stream(self.there)
        set_stream(self.before)
        return False


def stream(stream):
    return StreamContext(stream)
