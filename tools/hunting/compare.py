"""Runs one case on both sides and says where they part."""

import csv
import dataclasses
import gzip
import os
import re
import subprocess
import tempfile

from .oracle import OracleFailed

# PyTorch drops autocast's weight cache in the order of a hash table keyed by addresses of the host: a set, no sequence.
NO_ORDER = "autocast cache cleared"
# What fails because there is no GPU: errors of the pretend libraries, no answers of PyTorch.
# (Up to 2.4 multinomial reads from the device whether its numbers are probabilities: zero, which is no.)
NO_GPU = ("cuDNN version incompatibility", "nvmlDeviceGetGpuFabricInfoV_", "cudnn/RNN.cpp", "probability tensor contains either")
NO_GPU_IN = "flatten_parameters"  # of recurrent layers: the pretend cuDNN has no layout of their weights


class WrongRelease(Exception):
    """the oracle has another PyTorch than the case is for"""


@dataclasses.dataclass
class Outcome:
    """`verdict`: exact, differs, refused (Tidemark names what it does not model), invalid (both raise, or PyTorch gives no answer),
    accepted (PyTorch raises and Tidemark runs it), crashed (Tidemark ended in another way than its contract says), chance (addresses that PyTorch itself gives otherwise the next time)"""

    verdict: str
    reason: str = ""  # of refused, invalid, accepted and crashed; of differs: in words
    kind: str = ""  # of differs: action, bytes, address, stream, missing or extra; of accepted: the error's class
    at: int = -1  # the first differing event
    events: int = 0
    expected: list = dataclasses.field(default_factory=list)  # events of PyTorch
    ours: list = dataclasses.field(default_factory=list)  # events of Tidemark, the op last


def run_tidemark(program, case, limit_s=60):
    """(events [[action, address, bytes, stream, phase, op]], refusal, crash)"""
    with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
        scenario, events = os.path.join(folder, "case.yaml"), os.path.join(folder, "events.csv")
        with open(scenario, "w") as file:
            file.write(case.scenario())
        try:
            # On the GPU that PyTorch is given here kernels do nothing.
            done = subprocess.run([program, "run", scenario, "--assume", "zeros", "--events", events], text=True, timeout=limit_s,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return [], "", "no answer in %d s" % limit_s
        if done.returncode == 2:
            return [], done.stderr.replace(folder + "/", ""), ""
        if done.returncode != 0:
            return [], "", "exit code %d: %s" % (done.returncode, done.stderr.replace(folder + "/", ""))
        with open(events, newline="") as file:
            rows = [[e["action"], int(e["address"]), int(e["bytes"]), int(e["stream"]), e["phase"], e["op"]] for e in csv.DictReader(file)]
        return rows, "", ""


def write_events(path, events):
    """what PyTorch did, for a test that needs no PyTorch"""
    lines = "".join(" ".join(map(str, e[:4])) + "\n" for e in events)
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as out:
        out.write(lines.encode())


def read_events(path):
    with gzip.open(path, "rt") as file:
        rows = [line.split() for line in file]
    return [[action, int(address), int(size), int(stream), ""] for action, address, size, stream in rows]


def canonical(expected, ours):
    """both lists of events, frees without order put into one order: the runs of frees that Tidemark ascribes to the cache"""
    expected, i = list(expected), 0
    while i < len(ours):
        j = i
        while j < len(ours) and NO_ORDER in ours[j][5]:
            j += 1
        if j > i:
            # What is dropped beside it in one go belongs to the same run of frees.
            key = [e[:3] for e in ours[i:j]]
            if sorted(map(str, key)) == sorted(str(e[:3]) for e in expected[i:j]):
                expected[i:j] = [e[:5] for e in ours[i:j]]
        i = max(i + 1, j)
    return expected, ours


def first_difference(expected, ours):
    """(index, kind) of the first event that differs, or None"""
    expected, ours = canonical(expected, ours)
    for i in range(max(len(expected), len(ours))):
        if i >= len(ours):
            return i, "missing"
        if i >= len(expected):
            return i, "extra"
        for kind, at in (("action", 0), ("bytes", 2), ("stream", 3), ("address", 1)):
            if expected[i][at] != ours[i][at]:
                return i, kind
    return None


def requests(events, ours):
    """events without addresses, frees without order sorted"""
    out, frees = [], []
    for event, own in zip(events, ours):
        if NO_ORDER in own[5]:
            frees.append((event[0], event[2], event[3]))
            continue
        out += sorted(frees) + [(event[0], event[2], event[3])]
        frees = []
    return out + sorted(frees)


def is_chance(oracle, case, expected, ours, tries=8):
    """Whether all that differs is addresses, and other processes of PyTorch give other ones, too: where a release takes the block that was
    freed last, the order in which autocast's cache was dropped shows later."""
    if len(expected) != len(ours) or not any(NO_ORDER in e[5] for e in ours) or requests(expected, ours) != requests(ours, ours):
        return False
    first = canonical(expected, ours)[0]
    for _ in range(tries):
        oracle.start_anew(case)
        again = oracle.run(case)["events"]
        if len(again) != len(ours) or requests(again, ours) != requests(ours, ours):
            return False
        if any(a[1] != b[1] and NO_ORDER not in own[5] for a, b, own in zip(first, canonical(again, ours)[0], ours)):
            return True
    return False


def judge(oracle, program, case):
    """runs the case on both sides"""
    try:
        answer = oracle.run(case)
    except OracleFailed as failure:
        return Outcome("invalid", str(failure))
    if not oracle.torch.startswith(case.pytorch + "."):
        raise WrongRelease("the oracle's PyTorch is %s, the case's %s" % (oracle.torch, case.pytorch))
    rows, refusal, crash = run_tidemark(program, case)
    if answer["error"]:
        if crash:
            return Outcome("crashed", crash)
        if refusal or answer.get("raised_by") == NO_GPU_IN or any(word in answer["error"] for word in NO_GPU):
            return Outcome("invalid", answer["error"])
        return Outcome("accepted", answer["error"], refusal_class(answer["error"]))
    expected = answer["events"]
    if crash:
        return Outcome("crashed", crash)
    if refusal:
        return Outcome("refused", refusal, events=len(expected))
    difference = first_difference(expected, rows)
    if difference is None:
        return Outcome("exact", events=len(expected), expected=expected)
    at, kind = difference
    if kind == "address" and is_chance(oracle, case, expected, rows):
        return Outcome("chance", "PyTorch's own addresses are others in other processes", events=len(expected))
    return Outcome("differs", words(expected, rows, at), kind, at, len(expected), expected, rows)


def words(expected, ours, at):
    def one(events):
        return "%s %d @%d stream %s, %s" % (*[events[at][i] for i in (0, 2, 1, 3)], " ".join(events[at][4:])) if at < len(events) else "nothing"

    return "event %d: PyTorch %s | Tidemark %s" % (at, one(expected), one(ours))


def refusal_class(text):
    """the message alone, places and names of the draw taken out: what refusals are counted by"""
    line = next((x for x in text.splitlines() if "error" in x), text.strip().splitlines()[0] if text.strip() else "?")
    line = re.sub(r"^.*?error: ", "", line)
    return re.sub(r"\d+", "N", line)[:160]
