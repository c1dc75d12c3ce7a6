from concurrent.futures import Executor, ThreadPoolExecutor
from types import GenericAlias


class BrokenThreadPool(RuntimeError):
    pass


class _WorkItem:
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, future, fn, args, kwargs):
        self.future, self.fn, self.args, self.kwargs = future, fn, args, kwargs

    def run(self):
        try:
            self.future.set_result(self.fn(*self.args, **self.kwargs))
        except BaseException as error:
            self.future.set_exception(error)
