import _threads
import _tidemark

Condition, Barrier = [_tidemark.later("threading." + n) for n in ("Condition", "Barrier")]
_count = [0]
_timers = []


class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None, context=None):
        _count[0] += 1
        if name is None:
            name = f"Thread-{_count[0]}"
            if target is not None and hasattr(target, "__name__"):
                name += f" ({target.__name__})"
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self.name, self.daemon = str(name), bool(daemon)
        self._number, self._is_started, self._is_done, self._pauses = _count[0] + 1, False, False, 0

    def _check(self):
        if "_is_started" not in self.__dict__:
            raise RuntimeError("thread.__init__() not called")

    def start(self):
        self._check()
        if self._is_started:
            raise RuntimeError("threads can only be started once")
        self._is_started = True
        _threads.run(self)

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def join(self, timeout=None):
        self._check()
        if not self._is_started:
            raise RuntimeError("cannot join thread before it is started")
        if _threads.current() is self:
            raise RuntimeError("cannot join current thread")
        if not self._is_done and not _threads.is_inside():
            _threads.wait_here()
        if not self._is_done and timeout is None and not self.daemon:
            _tidemark.note(f"the thread {self.name!r} waits for what nothing brings: it is left there")

    def is_alive(self):
        return self._is_started and not self._is_done

    @property
    def ident(self):
        return self._number if self._is_started else None

    native_id = ident

    def getName(self):
        return self.name

    def setName(self, name):
        self.name = str(name)

    def isDaemon(self):
        return self.daemon

    def setDaemon(self, daemonic):
        self.daemon = bool(daemonic)

    def __repr__(self):
        state = "initial" if not self._is_started else "stopped" if self._is_done else "started"
        return f"<{type(self).__name__}({self.name}, {state}{' daemon' if self.daemon else ''})>"


class Timer(Thread):
    """its function runs when something waits for it: a program's own work is taken to be done before"""

    def __init__(self, interval, function, args=None, kwargs=None):
        Thread.__init__(self)
        self.interval, self.function, self.args, self.kwargs = interval, function, args or (), kwargs or {}

    def start(self):
        self._is_started = True
        _timers.append(self)

    def cancel(self):
        if self in _timers:
            _timers.remove(self)
            self._is_done = True

    def run(self):
        self.function(*self.args, **self.kwargs)

    def join(self, timeout=None):
        if self in _timers:
            _timers.remove(self)
            _threads.run(self)


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
        if not self._flag and _threads.is_inside():
            if timeout is None:
                _threads.wait_here()
            _threads.count_wait()
        elif not self._flag:
            _threads.wait_here()
            while _timers and not self._flag:
                _timers[0].join()
        return self._flag

    isSet = is_set


class local:
    pass


class _Main:
    name, ident, native_id, daemon = "MainThread", 1, 1, False

    def is_alive(self):
        return True

    def getName(self):
        return self.name


_main = _Main()


def main_thread():
    return _main


def current_thread():
    return _threads.current() or _main


currentThread = current_thread


def get_ident():
    return current_thread().ident


get_native_id = get_ident


def enumerate():
    return [_main] + ([_threads.current()] if _threads.is_inside() else [])


def active_count():
    return len(enumerate())


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
