import functools

import torch._C as _C


def is_grad_enabled():
    return _C.grad_enabled()


def is_inference_mode_enabled():
    return _C.inference_mode()


class _GradMode:
    """a context manager that is a decorator too"""

    wanted = False

    def __enter__(self):
        self.before = _C.grad_enabled()
        _C.set_grad_enabled(self.wanted)

    def __exit__(self, *error):
        _C.set_grad_enabled(self.before)
        return False

    def clone(self):
        return type(self)()

    def __call__(self, function):
        make = self.clone

        @functools.wraps(function)
        def decorated(*args, **kwargs):
            with make():
                return function(*args, **kwargs)

        return decorated


class no_grad(_GradMode):
    def __new__(cls, function=None):
        mode = object.__new__(cls)
        return mode if function is None else mode(function)


class enable_grad(_GradMode):
    wanted = True

    def __new__(cls, function=None):
        mode = object.__new__(cls)
        return mode if function is None else mode(function)


class set_grad_enabled(_GradMode):
    def __init__(self, mode):
        self.before = _C.grad_enabled()
        self.wanted = mode
        _C.set_grad_enabled(mode)

    def __enter__(self):
        _C.set_grad_enabled(self.wanted)

    def clone(self):
        return set_grad_enabled(self.wanted)


class inference_mode(_GradMode):
    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        self.before = _C.grad_enabled()
        self.inference = _C.inference_mode()
        if self.mode:
            _C.set_grad_enabled(False)
        _C.set_inference_mode(self.mode)

    def __exit__(self, *error):
        _C.set_grad_enabled(self.before)
        _C.set_inference_mode(self.inference)
        return False

    def clone(self):
        return inference_mode(self.mode)
