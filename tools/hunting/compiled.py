"""Programs with torch.compile against PyTorch's own compiler: drawn, run with filled caches, compared event by event and by their peaks.

The oracle is `oracle/program.py` of the folder that TIDEMARK_SHARED names.
"""

import collections
import contextlib
import csv
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from . import loop, sequence, tables, vision
from .compare import refusal_class
from .rand import Rand
from .ranks import RankOracle, first_difference

KINDS = {"vision": (vision.maker, 4), "sequence": (sequence.maker, 4), "tables": (tables.maker, 3)}
DEVICE = "h100-sxm-80gb"
HEAD = """import math
import torch
import torch.nn as nn
import torch.nn.functional as F

"""


def draw(seed, number, kind=None):
    """(name, text) of script number `number` of a seed"""
    r = Rand("%s/%s/compiled" % (seed, number))
    kinds = {kind: KINDS[kind]} if kind else KINDS
    while True:
        chosen = r.choices(list(kinds), [weight for _, weight in kinds.values()])[0]
        model = kinds[chosen][0](r)
        if model.loop or model.sparse:
            continue
        case = loop.case_of(r, model, "2.11")
        if case.host_random or case.backends or case.total or case.fraction or "make(" in case.loop or "model = " in case.loop:
            continue
        whole = r.chance(0.25)
        made = "model = make().to('cuda')\n" + ("model.compile()\n" if r.chance(0.2) else "model = torch.compile(model%s)\n" % (", fullgraph=True" if whole else ""))
        steps = case.loop
        if r.chance(0.7):  # one size for all steps: another one compiles the graph anew for any size
            steps = re.sub(r"for b in \[(\d+)((?:, \d+)*)\]", lambda m: "for b in [%s]" % ", ".join([m[1]] * max(2, 1 + m[2].count(","))), steps)
        return case.name, HEAD + case.code + "\n\n" + made + steps


def peaks(events):
    """(allocated, reserved): the most of each"""
    allocated = reserved = 0
    most = [0, 0]
    for action, size, *_ in events:
        if action in ("alloc", "free_requested"):
            allocated += size if action == "alloc" else -size
        elif action in ("segment_alloc", "segment_map", "segment_free", "segment_unmap"):
            reserved += size if action in ("segment_alloc", "segment_map") else -size
        most = [max(most[0], allocated), max(most[1], reserved)]
    return most


def recorded(oracle, path):
    """(events, error) with warm caches: the first run fills them"""
    cache = tempfile.mkdtemp()
    try:
        for _ in range(2):
            a = oracle.program.parser().parse_args([str(path), "--compiled", "warm", "--quiet", "--limit", "900"])
            got = oracle.program.run(a, [], "", True, cache)
            if got["facts"]["error"]:
                break
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    error = got["facts"]["error"]
    return [(e[0], e[2], e[3], e[1]) for e in got["events"] if e[0] != "snapshot"], error and error["line"]


def simulated(program, path):
    """(events, refusal)"""
    with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
        out = os.path.join(folder, "events.csv")
        command = [program, "run", str(path), "--compile", "model", "--device", DEVICE, "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false", "--events", out]
        try:
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return [], "no answer in 120 s"
        if not os.path.exists(out) or done.returncode not in (0, 1):
            return [], done.stderr.strip() or "exit code %d" % done.returncode
        with open(out, newline="") as file:
            return [(e["action"], int(e["bytes"]), int(e["stream"]), int(e["address"])) for e in csv.DictReader(file) if e["action"] != "snapshot"], ""


def told(errors, of, bound):
    """one line: the distribution of signed errors in percent"""
    if not errors:
        return "%s: none compared" % of
    within = sum(abs(e) <= bound for e in errors)
    return "%s: %+.2f to %+.2f %%, median %.2f %% without signs, within %g %%: %d of %d" % (
        of, min(errors), max(errors), statistics.median(abs(e) for e in errors), bound, within, len(errors))


def hunt(options):
    oracle, verdicts, reasons, began = RankOracle(), collections.Counter(), collections.Counter(), time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    number, events, errors = options.first, 0, ([], [])
    last = options.first + options.draws if options.draws else None
    while number < last if last is not None else time.monotonic() - began < 60 * (options.minutes or 1):
        name, text = draw(options.seed, number)
        path = pathlib.Path(options.out / ("%s-%d.py" % (options.seed, number))).resolve()
        path.write_text(text)
        number += 1
        ours, refusal = simulated(options.program, path)
        if refusal:
            verdicts["refused"] += 1
            reasons[refusal_class(refusal)] += 1
            continue
        expected, error = [], "no answer"
        with contextlib.suppress(oracle.program.Failed):
            expected, error = recorded(oracle, path)
        if error:
            verdicts["invalid"] += 1
            reasons["invalid: " + error[:120]] += 1
            path.unlink()
            continue
        at = first_difference(expected, ours)
        verdicts["exact" if at is None else "differs"] += 1
        off = [100 * (b - a) / a for a, b in zip(peaks(expected), peaks(ours))]
        for of, each in zip(errors, off):
            of.append(each)
        if at is None:
            events += len(expected)
            path.unlink()
        else:
            print("draw %d (%s): event %d of %d and %d, allocated %+.2f %%, reserved %+.2f %%" % (number - 1, name, at, len(expected), len(ours), *off), flush=True)
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        print("%5d  %s" % (count, reason))
    print(told(errors[0], "peak allocated", 1))
    print(told(errors[1], "peak reserved", 2))
    print("seed %s: %s; %d events exact; %.0f s" % (options.seed, ", ".join("%d %s" % (verdicts[v], v) for v in ("exact", "differs", "refused", "invalid")), events, time.monotonic() - began))
    return 0
