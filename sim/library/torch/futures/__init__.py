import torch


class Future:
    """a value that is there once streams have got that far. Source: c10::ivalue::Future"""

    def __init__(self, *, devices=None):
        self._devices, self._events, self._callbacks, self._value = devices or [], [], [], None
        self._is_done = False

    @staticmethod
    def _completed(value, event, devices):
        made = Future(devices=devices)
        made._value, made._is_done = value, True
        made._events = [] if event is None else [event]
        return made

    def done(self):
        return self._is_done

    def _bring_here(self):
        """the current streams wait, and are users of the value's memory"""
        for event in self._events:
            event.wait()
        for tensor in _tensors_in(self._value):
            if tensor.is_cuda:
                tensor.record_stream(torch.cuda.current_stream(tensor.device))

    def value(self):
        return self._value

    def wait(self):
        self._bring_here()
        return self._value

    def set_result(self, result):
        self._value, self._is_done = result, True
        self._events = [torch.cuda.current_stream(d).record_event() for d in self._devices]
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def _beside(self, function):
        """on a stream of its own, which waits for the value and uses its memory. Source: Future::invokeCallback"""
        if not self._devices:
            return function()
        with torch.cuda.stream(torch.cuda.Stream(self._devices[0])):
            self._bring_here()
            return function()

    def then(self, callback):
        """a future of what `callback` gives"""
        made = Future(devices=self._devices)
        self._when_done(lambda: self._beside(lambda: made.set_result(callback(self))))
        return made

    def add_done_callback(self, callback):
        self._when_done(lambda: self._beside(lambda: callback(self)))

    def _when_done(self, function):
        if self._is_done:
            function()
        else:
            self._callbacks.append(function)


def _tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in _tensors_in(item)]
    return []


def wait_all(futures):
    return [future.wait() for future in collect_all(futures).wait()]


def collect_all(futures):
    """a future of futures, which has no devices: its wait lets no stream wait. Source: c10::collectAll"""
    made, left = Future(), [len(futures)]

    def count(future):
        left[0] -= 1
        if left[0] == 0:
            made.set_result(list(futures))

    if not futures:
        made.set_result([])
    for future in futures:
        future.add_done_callback(count)
    return made
