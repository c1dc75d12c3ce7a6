import inspect

import _tidemark
import torch
import torch._C as _C


class KernelInterface:
    def __getitem__(self, grid):
        """kernel[grid](arguments) launches it"""
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

    def warmup(self, *args, grid, **kwargs):
        pass


class JITFunction(KernelInterface):
    """a kernel: what it writes is not known afterwards"""

    def __init__(self, fn, do_not_specialize=None, **options):
        self.fn, self.options = fn, options
        self.arg_names = list(inspect.signature(fn).parameters)
        self.__name__, self.__doc__, self.__module__ = fn.__name__, fn.__doc__, fn.__module__
        self._hooks = []

    def add_pre_run_hook(self, hook):
        self._hooks.append(hook)

    def run(self, *args, grid, warmup=False, **kwargs):
        named = dict(zip(self.arg_names, args))
        for name, value in kwargs.items():
            if name in self.arg_names:
                named[name] = value
        for hook in self._hooks:
            hook(*args, **kwargs)
        if callable(grid):
            grid = grid(named)
        if not isinstance(grid, (tuple, list)):
            raise TypeError(f"the grid of {self.__name__} is a tuple of numbers")
        _tidemark.note(
            f"Triton's kernel {self.__name__}() is not run: it asks for no memory, what it writes is not known"
        )
        for value in named.values():
            if isinstance(value, torch.Tensor):
                if not value.is_cuda:
                    place = [each is value for each in named.values()].index(True)
                    raise ValueError(f"Pointer argument (at {place}) cannot be accessed from Triton (cpu tensor?)")
                _C.forget(value)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")

    def __repr__(self):
        return f"JITFunction({self.__module__}:{self.fn.__qualname__})"


def jit(fn=None, *, version=None, do_not_specialize=None, debug=None, noinline=None, **options):
    def decorated(fn):
        return JITFunction(fn, do_not_specialize)

    return decorated if fn is None else decorated(fn)


def constexpr_function(f):
    return f
