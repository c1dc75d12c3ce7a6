"""Whether events of PyTorch differ from Tidemark's by what PyTorch itself leaves to chance, and by nothing else.

Two things are chance (docs/ranks.md, "Left to chance"): how late a thread of autograd's lets go of gradients, and the order in which
backward passes in halves walk a set. Tidemark runs both ends. A block whose free lies elsewhere at the two ends may be freed anywhere
between them. Among the frees between two requests for memory those may stand in any order that stand in another order at the two ends.
All else must be as at the earliest end: requests, their order, which blocks are freed, other frees. Where blocks lie must be what the
allocator makes of the requests in PyTorch's order.
"""

import csv
import os
import subprocess
import tempfile


def read(events):
    """(requests for memory, ids of the blocks that are freed after each of them, in order)"""
    live, requests, frees = {}, [], [[]]
    for action, size, stream, address in events:
        if action == "alloc":
            live[address] = len(requests)
            requests.append((size, stream))
            frees.append([])
        elif action == "free_requested":
            frees[-1].append(live.get(address))
    return requests, frees


def places(frees):
    return {block: gap for gap, blocks in enumerate(frees) for block in blocks}


def streams_numbered(requests):
    numbers = {}
    return [(size, numbers.setdefault(stream, len(numbers))) for size, stream in requests]


def explains(expected, early, late):
    """what differs beyond chance, in words; empty: nothing does. `early`, `late`: Tidemark's events at the two ends"""
    (requests, frees), (own, first), (others, last) = read(expected), read(early), read(late)
    if streams_numbered(requests) != streams_numbered(own) or streams_numbered(own) != streams_numbered(others):
        return "other requests for memory"
    at, earliest, latest = places(frees), places(first), places(last)
    end = len(requests)
    loose = {block for block in earliest if latest.get(block, end) != earliest[block]}
    for block in set(at) | set(earliest):
        low, high = earliest.get(block, end), latest.get(block, end)
        if not low <= at.get(block, end) <= high:
            return "block %s is freed after request %s, not between %d and %d" % (block, at.get(block), low, high)
    for gap, blocks in enumerate(frees):
        fixed = [b for b in blocks if b not in loose]
        ours = [b for b in first[gap] if b not in loose]
        any_order = {a for a, b in zip(ours, [b for b in last[gap] if b not in loose]) if a != b}
        if [b for b in fixed if b not in any_order] != [b for b in ours if b not in any_order]:
            return "other frees after request %d" % gap
    return ""


def replayed(program, events):
    """the same requests in the same order, as Tidemark's allocator serves them"""
    live, streams, lines, count = {}, {}, ["tidemark-trace 1"], 0
    for action, size, stream, address in events:
        if action == "alloc":
            live[address] = count
            lines.append("alloc %d %d stream=%d" % (count, size, streams.setdefault(stream, len(streams))))
            count += 1
        elif action == "free_completed":
            lines.append("free %d" % live[address])
    with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
        trace, out = os.path.join(folder, "requests.tmt"), os.path.join(folder, "events.csv")
        with open(trace, "w") as file:
            file.write("\n".join(lines) + "\n")
        command = [program, "replay", trace, "--device", "h100-sxm-80gb", "--pytorch", "2.11", "--events", out]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        with open(out, newline="") as file:
            return [(e["action"], int(e["bytes"]), int(e["stream"]), int(e["address"])) for e in csv.DictReader(file) if e["action"] != "snapshot"]


def placed(events):
    """where blocks and segments lie, by first appearance; when a free was asked for is left out"""
    addresses = {}
    return [(action, size, addresses.setdefault(address, len(addresses))) for action, size, _, address in events if action != "free_requested"]
