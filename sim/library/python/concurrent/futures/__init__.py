from types import GenericAlias


class Future:
    def __class_getitem__(cls, item):
        return GenericAlias(cls, item)

    def __init__(self):
        self._result, self._error, self._calls = None, None, []

    def result(self, timeout=None):
        if self._error is not None:
            raise self._error
        return self._result

    def exception(self, timeout=None):
        return self._error

    def done(self):
        return True

    def cancel(self):
        return False

    def cancelled(self):
        return False

    def set_result(self, result):
        self._result = result

    def set_exception(self, exception):
        self._error = exception

    def running(self):
        return False

    def add_done_callback(self, fn):
        fn(self)


class Executor:
    """runs what it is given at once: a run has one thread"""

    def __init__(self, max_workers=None, *args, **kwargs):
        self._max_workers = max_workers or 1

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future._error = error
        return future

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        return iter([fn(*each) for each in zip(*iterables)])

    def shutdown(self, wait=True, *, cancel_futures=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class ThreadPoolExecutor(Executor):
    pass


class ProcessPoolExecutor(Executor):
    pass


def as_completed(fs, timeout=None):
    return iter(list(fs))


def wait(fs, timeout=None, return_when="ALL_COMPLETED"):
    return set(fs), set()


class CancelledError(Exception):
    pass


class TimeoutError(Exception):
    pass


FIRST_COMPLETED, FIRST_EXCEPTION, ALL_COMPLETED = "FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED"
