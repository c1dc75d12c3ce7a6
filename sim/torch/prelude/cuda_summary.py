# module: torch.cuda
# defines: memory_summary
# Source: the text that torch.cuda.memory_summary() of 2.11 returns, compared character by character.
import torch

WIDTH = 75
BYTES = (768 * 1024, 1024, ["B  ", "KiB", "MiB", "GiB", "TiB", "PiB"])
COUNTS = (750 * 1000, 1000, [" ", "K", "M"])
ROWS = [
    ("allocated_bytes", "Allocated memory", True),
    ("active_bytes", "Active memory", True),
    ("requested_bytes", "Requested memory", True),
    ("reserved_bytes", "GPU reserved memory", True),
    ("inactive_split_bytes", "Non-releasable memory", True),
    ("allocation", "Allocations", False),
    ("active", "Active allocs", False),
    ("segment", "GPU reserved segments", False),
    ("inactive_split", "Non-releasable allocs", False),
]
OVERSIZE = [("oversize_allocations", "Oversize allocations"), ("oversize_segments", "Oversize GPU segments")]


def cell(number, guide, is_bytes):
    """`number` in the unit that suits `guide`, cut and not rounded."""
    limit, factor, units = BYTES if is_bytes else COUNTS
    unit = 0
    while guide >= limit and unit + 1 < len(units):
        number //= factor
        guide /= factor
        unit += 1
    return f"{number:6d} {units[unit]}" if is_bytes else f"{number:7d} {units[unit]} "


def row(stats, key, name, guides, is_bytes):
    numbers = [stats[f"{key}.{part}"] for part in ("current", "peak", "allocated", "freed")]
    guides = guides or numbers
    cells = [cell(n, g, is_bytes) for n, g in zip(numbers, guides)]
    return f" {name:<21} | " + " | ".join(cells) + " ", numbers


def memory_summary(device=None, abbreviated=False):
    device = torch.cuda.current_device() if device is None else torch.device(device).index if isinstance(device, str) else device
    stats = torch.cuda.memory_stats(device)
    heavy, light = "=" * WIDTH, "-" * WIDTH
    lines = [heavy, f" {'':16} PyTorch CUDA memory summary, device ID {device:<17d} ", light,
             f"  {'':9} CUDA OOMs: {stats['num_ooms']:<12d} | {'':6} cudaMalloc retries: {stats['num_alloc_retries']:<8d}  ",
             heavy, "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  "]
    for key, name, is_bytes in ROWS:
        text, guides = row(stats, key + ".all", name, None, is_bytes)
        lines += [light, text]
        if not abbreviated:
            for pool in ("large", "small"):
                lines.append(row(stats, f"{key}.{pool}_pool", f"      from {pool} pool", guides, is_bytes)[0])
    for key, name in OVERSIZE:
        lines += [light, row(stats, key, name, None, False)[0]]
    lines.append(heavy)
    return "|" + "|\n|".join(lines) + "|\n"
