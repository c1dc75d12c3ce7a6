# Generators, stacks of contexts and callbacks on the way out of an error.
import contextlib

import torch

GIB = 2**30


@contextlib.contextmanager
def buffer(gigabytes):
    block = torch.empty(gigabytes * GIB, dtype=torch.uint8, device="cuda")
    try:
        yield block
    finally:
        print("freed", gigabytes)
        del block


def batches(sizes):
    try:
        for size in sizes:
            yield torch.empty(size * GIB, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        print("generator refused")
        yield None
    finally:
        print("generator closed")


for batch in batches([5, 10, 70, 3]):
    print("none" if batch is None else batch.numel() // GIB)
    batch = None
try:
    with buffer(20) as a, buffer(30) as b, buffer(40) as c:
        print("not reached")
except RuntimeError:
    print("refused", torch.cuda.memory_allocated() // GIB)
a = b = None
print(torch.cuda.memory_allocated() // GIB)
with contextlib.suppress(torch.OutOfMemoryError), contextlib.ExitStack() as stack:
    stack.callback(print, "callback", 1)
    held = [stack.enter_context(buffer(15)) for _ in range(9)]
    print("not reached")
print(torch.cuda.memory_allocated() // GIB)
stream = batches([8, 8, 90])
print(next(stream).numel() // GIB)
stream.close()
with contextlib.nullcontext():
    try:
        x = torch.empty(100 * GIB, dtype=torch.uint8, device="cuda")
    except (ValueError, RuntimeError) as error:
        print(type(error).__name__)
    else:
        print("not reached")
tries = [lambda: torch.empty(99 * GIB, dtype=torch.uint8, device="cuda"), lambda: torch.empty(9 * GIB, dtype=torch.uint8, device="cuda")]
for function in tries:
    with contextlib.suppress(Exception):
        y = function()
        break
print(y.numel() // GIB)
