# Errors that a `with` swallows: contextlib's, a class's, a generator's, several at a time.
import contextlib

import torch


class Guard:
    def __init__(self):
        self.caught = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None and issubclass(kind, torch.OutOfMemoryError):
            self.caught.append(kind.__name__)
            return True
        return False


@contextlib.contextmanager
def tolerant(name):
    try:
        yield
    except RuntimeError:
        print("tolerated", name)


kept = torch.zeros(40, 2**28, device="cuda")
print("kept", kept.numel())
with contextlib.suppress(RuntimeError):
    a = torch.zeros(60, 2**28, device="cuda")
    print("not reached")
with Guard() as guard:
    small = torch.zeros(2**20, device="cuda")
    b = torch.zeros(60, 2**28, device="cuda")
print(guard.caught, small.numel())
with tolerant("c"):
    c = kept + kept
with contextlib.ExitStack() as stack:
    stack.enter_context(contextlib.suppress(torch.OutOfMemoryError))
    d = kept.double()
del kept
e = torch.zeros(60, 2**28, device="cuda")
print("went on", e.numel())
