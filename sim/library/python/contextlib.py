import abc
import os
import sys
from _abstract import has_methods
from collections import deque
from functools import update_wrapper
from types import GenericAlias, MethodType

__all__ = [
    "asynccontextmanager", "contextmanager", "closing", "nullcontext", "AbstractContextManager",
    "AbstractAsyncContextManager", "AsyncExitStack", "ContextDecorator", "ExitStack", "redirect_stdout",
    "redirect_stderr", "suppress", "aclosing", "chdir",
]


class AbstractContextManager(abc.ABC):
    __class_getitem__ = classmethod(GenericAlias)

    def __enter__(self):
        return self

    @abc.abstractmethod
    def __exit__(self, exc_type, exc_value, traceback):
        return None

    @classmethod
    def __subclasshook__(cls, C):
        return has_methods(C, "__enter__", "__exit__") if cls is AbstractContextManager else NotImplemented


class AbstractAsyncContextManager(abc.ABC):
    __class_getitem__ = classmethod(GenericAlias)


class ContextDecorator:
    def _recreate_cm(self):
        return self

    def __call__(self, func):
        def inner(*args, **kwds):
            with self._recreate_cm():
                return func(*args, **kwds)

        return update_wrapper(inner, func)


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


class chdir:
    def __init__(self, path):
        self.path, self._old = path, []

    def __enter__(self):
        self._old.append(os.getcwd())
        os.chdir(self.path)

    def __exit__(self, *error):
        os.chdir(self._old.pop())


class _GeneratorContextManager:
    def __init__(self, func, args, kwds):
        self.gen = func(*args, **kwds)
        self.func, self.args, self.kwds = func, args, kwds
        doc = getattr(func, "__doc__", None)
        if doc is not None:
            self.__doc__ = doc

    def _recreate_cm(self):
        return _GeneratorContextManager(self.func, self.args, self.kwds)

    def __call__(self, func):
        def inner(*args, **kwds):
            with self._recreate_cm():
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
        if value is None:
            value = kind()
        try:
            self.gen.throw(value)
        except StopIteration as error:
            return error is not value
        except RuntimeError as error:
            if error is value or isinstance(value, StopIteration) and error.__cause__ is value:
                return False
            raise
        except BaseException as error:
            if error is not value:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(func):
    def managed(*args, **kwds):
        return _GeneratorContextManager(func, args, kwds)

    return update_wrapper(managed, func)


class _Redirect:
    """what is printed and written to the stream goes to the target"""

    def __init__(self, new_target):
        self._target, self._old = new_target, []

    def __enter__(self):
        self._old.append(getattr(sys, self._stream))
        setattr(sys, self._stream, self._target)
        return self._target

    def __exit__(self, *error):
        setattr(sys, self._stream, self._old.pop())


class redirect_stdout(_Redirect):
    _stream = "stdout"


class redirect_stderr(_Redirect):
    _stream = "stderr"


class ExitStack(AbstractContextManager):
    def __init__(self):
        self._exit_callbacks = deque()

    def pop_all(self):
        made = type(self)()
        made._exit_callbacks, self._exit_callbacks = self._exit_callbacks, deque()
        return made

    def push(self, exit):
        own = getattr(type(exit), "__exit__", None)
        self._exit_callbacks.append((True, exit if own is None else MethodType(own, exit)))
        return exit

    def enter_context(self, cm):
        kind = type(cm)
        enter, leave = getattr(kind, "__enter__", None), getattr(kind, "__exit__", None)
        if enter is None or leave is None:
            raise TypeError(
                f"'{kind.__module__}.{kind.__qualname__}' object does not support the context manager protocol"
            )
        result = enter(cm)
        self._exit_callbacks.append((True, MethodType(leave, cm)))
        return result

    def callback(self, callback, /, *args, **kwds):
        def leave(kind, value, traceback):
            callback(*args, **kwds)

        leave.__wrapped__ = callback
        self._exit_callbacks.append((True, leave))
        return callback

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, value, traceback):
        """The last first; what one raises goes to the next, with what was raised before as its context."""
        given, raised = value, False
        while self._exit_callbacks:
            _, leave = self._exit_callbacks.pop()
            try:
                if leave(None if value is None else type(value), value, None if value is None else traceback):
                    value, raised = None, False
            except BaseException as error:
                _chain(error, value, given)
                value, raised = error, True
        if raised:
            context = value.__context__
            try:
                raise value
            except BaseException:
                value.__context__ = context
                raise
        return given is not None and value is None


def _chain(error, before, outer):
    """What an exit raises comes after the exception that the exit was told of."""
    seen, each = [], before
    while each is not None and each not in seen:
        seen.append(each)
        each = each.__context__
    if before is None or error in seen:
        return
    while error.__context__ is not outer:
        error = error.__context__
        if error is None or error in seen:
            return
    error.__context__ = before


class AsyncExitStack(ExitStack):
    pass


def asynccontextmanager(func):
    return func


class aclosing(closing):
    pass
