from functools import update_wrapper


class nullcontext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *error):
        pass


class suppress:
    def __init__(self, *exceptions):
        self._exceptions = exceptions

    def __enter__(self):
        pass

    def __exit__(self, kind, value, traceback):
        return kind is not None and issubclass(kind, self._exceptions)


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *error):
        self.thing.close()


class ContextDecorator:
    def __call__(self, func):
        def inner(*args, **kwds):
            with self:
                return func(*args, **kwds)

        return update_wrapper(inner, func)


class _GeneratorContextManager:
    def __init__(self, func, args, kwds):
        self.gen = func(*args, **kwds)
        self.func, self.args, self.kwds = func, args, kwds

    def __call__(self, func):
        make = lambda: _GeneratorContextManager(self.func, self.args, self.kwds)

        def inner(*args, **kwds):
            with make():
                return func(*args, **kwds)

        return update_wrapper(inner, func)

    def __enter__(self):
        self.args = self.kwds = self.func = None
        try:
            return next(self.gen)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind, value, traceback):
        if kind is None:
            try:
                next(self.gen)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.gen.throw(value)
        except StopIteration as error:
            return error is not value
        except BaseException as error:
            if error is not value:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(func):
    def managed(*args, **kwds):
        return _GeneratorContextManager(func, args, kwds)

    return update_wrapper(managed, func)


class redirect_stdout:
    """what is printed goes where it always goes"""

    def __init__(self, new_target):
        self._target = new_target

    def __enter__(self):
        return self._target

    def __exit__(self, *error):
        pass


redirect_stderr = redirect_stdout


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class ExitStack:
    def __init__(self):
        self._exits = []

    def __enter__(self):
        return self

    def enter_context(self, manager):
        result = manager.__enter__()
        self._exits.append(manager.__exit__)
        return result

    def push(self, exit):
        self._exits.append(exit.__exit__ if hasattr(exit, "__exit__") else exit)
        return exit

    def pop_all(self):
        out = type(self)()
        out._exits, self._exits = self._exits, []
        return out

    def callback(self, func, /, *args, **kwds):
        def leave(*error):
            func(*args, **kwds)
            return False

        self._exits.append(leave)
        return func

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, value, traceback):
        swallowed = False
        while self._exits:
            leave = self._exits.pop()
            if kind is not None and not swallowed:
                swallowed = bool(leave(kind, value, traceback))
            else:
                leave(None, None, None)
        return swallowed


class AsyncExitStack(ExitStack):
    pass


class AbstractAsyncContextManager:
    pass


def asynccontextmanager(func):
    return func
