import _tidemark

Thread, Timer, Condition, Barrier = [
    _tidemark.later("threading." + n) for n in ("Thread", "Timer", "Condition", "Barrier")
]


class Lock:
    def acquire(self, blocking=True, timeout=-1):
        return True

    def release(self):
        pass

    def locked(self):
        return False

    def __enter__(self):
        return True

    def __exit__(self, *error):
        pass


RLock = Semaphore = BoundedSemaphore = Lock


class Event:
    def __init__(self):
        self._flag = False

    def set(self):
        self._flag = True

    def clear(self):
        self._flag = False

    def is_set(self):
        return self._flag

    def wait(self, timeout=None):
        return self._flag


class local:
    pass


class _Main:
    name, ident, native_id, daemon = "MainThread", 1, 1, False

    def is_alive(self):
        return True

    def getName(self):
        return self.name


def current_thread():
    return _Main()


main_thread = current_thread


def get_ident():
    return 1


def active_count():
    return 1


def enumerate():
    return [_Main()]


def get_native_id():
    return 1


TIMEOUT_MAX = 9223372036.0
ThreadError = RuntimeError


class BrokenBarrierError(RuntimeError):
    pass


def stack_size(size=0):
    return 0


def _sets_nothing(func):
    pass


setprofile = settrace = _sets_nothing


def getprofile():
    return None


gettrace = getprofile
