from types import GenericAlias


class AsyncResult:
    """what a call gave, or its error; it has ended when it was asked for"""

    def __init__(self, call, callback=None, error_callback=None):
        self._value, self._error = None, None
        try:
            self._value = call()
        except Exception as error:
            self._error = error
        told = callback if self._error is None else error_callback
        if told is not None:
            told(self._value if self._error is None else self._error)

    def get(self, timeout=None):
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self, timeout=None):
        pass

    def ready(self):
        return True

    def successful(self):
        return self._error is None


class Pool:
    """Calls what it is given at once and in order: a run has one thread. Its processes' memory is not counted."""

    def __class_getitem__(cls, item):
        return GenericAlias(cls, item)

    def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None, context=None):
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        self._open = True
        if initializer is not None:
            initializer(*initargs)

    def _check(self):
        if not self._open:
            raise ValueError("Pool not running")

    def apply(self, func, args=(), kwds={}):
        self._check()
        return func(*args, **kwds)

    def map(self, func, iterable, chunksize=None):
        self._check()
        return [func(each) for each in iterable]

    def starmap(self, func, iterable, chunksize=None):
        self._check()
        return [func(*each) for each in iterable]

    def imap(self, func, iterable, chunksize=1):
        return iter(self.map(func, iterable))

    imap_unordered = imap

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):
        self._check()
        return AsyncResult(lambda: func(*args, **kwds), callback, error_callback)

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return AsyncResult(lambda: self.map(func, iterable), callback, error_callback)

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return AsyncResult(lambda: self.starmap(func, iterable), callback, error_callback)

    def close(self):
        self._open = False

    def terminate(self):
        self._open = False

    def join(self):
        if self._open:
            raise ValueError("Pool is still running")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.terminate()


ThreadPool = Pool
