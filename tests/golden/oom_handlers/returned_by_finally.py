# `return`, `break` and `continue` in a `finally` end the error; a loop goes on after it.
import torch


def ask(gigabytes):
    answer = "refused"
    try:
        block = torch.empty(gigabytes * 2**30, dtype=torch.uint8, device="cuda")
        answer = "given"
    finally:
        return answer, gigabytes


print([ask(g) for g in (10, 60, 90)])
for turn in range(3):
    try:
        more = torch.empty((turn + 1) * 35 * 2**30, dtype=torch.uint8, device="cuda")
        print("turn", turn, "has", more.numel())
    finally:
        continue
del more
while True:
    try:
        kept = torch.empty(50 * 2**30, dtype=torch.uint8, device="cuda")
        other = torch.empty(50 * 2**30, dtype=torch.uint8, device="cuda")
    finally:
        print("leaves")
        break
print(kept.numel())


def nested():
    try:
        try:
            big = torch.empty(60 * 2**30, dtype=torch.uint8, device="cuda")
        finally:
            print("inner", 1)
    except RuntimeError:
        print("middle", 2)
        raise
    finally:
        print("outer", 3)


try:
    nested()
except torch.cuda.OutOfMemoryError as error:
    print(type(error).__name__, str(error).split(".")[0], isinstance(error, RuntimeError), isinstance(error, MemoryError))
end = torch.empty(2**30, dtype=torch.uint8, device="cuda")
print("end", torch.cuda.memory_allocated() >> 30)
