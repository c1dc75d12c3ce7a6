# The error under all its names, asked for in every way; and handlers that do not match.
import torch

GIB = 2**30


def big():
    return torch.empty(200 * GIB, dtype=torch.uint8, device="cuda")


print(torch.cuda.OutOfMemoryError is torch.OutOfMemoryError, issubclass(torch.OutOfMemoryError, RuntimeError), torch.OutOfMemoryError.__mro__[1].__name__)
for kind in (torch.cuda.OutOfMemoryError, torch.OutOfMemoryError, RuntimeError, Exception, BaseException):
    try:
        try:
            big()
        except (MemoryError, ValueError, KeyError):
            print("not this")
    except kind as error:
        print(kind.__name__, type(error).__name__, len(error.args), "PYTORCH" in str(error))
caught = None
try:
    big()
except RuntimeError as error:
    if "out of memory" not in str(error):
        raise
    caught = type(error)
    try:
        raise ValueError("while handling") from None
    except ValueError as other:
        print(other, type(other.__context__).__name__)
print(caught is torch.OutOfMemoryError)
count = 0
for _ in range(3):
    try:
        big()
    except:
        count += 1
print(count, torch.cuda.memory_stats()["num_ooms"], torch.cuda.memory_allocated())
result = None
try:
    result = big()
except Exception as error:
    result = error.__class__.__qualname__
print(result)


def fallback(function, *others):
    try:
        return function()
    except torch.OutOfMemoryError:
        return fallback(*others)


print(fallback(big, big, lambda: torch.zeros(3, device="cuda").shape))
