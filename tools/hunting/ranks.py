"""Programs of many ranks against the real PyTorch: drawn, run as the first and the last rank, compared event by event.

The oracle is `oracle/program.py` of the folder that TIDEMARK_SHARED names: it plays one rank of a script of N.
"""

import collections
import csv
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from . import chance, rank_calls, rank_parts, rank_programs
from .compare import NO_ORDER, refusal_class
from .rand import Rand

MORE_RUNS = 2  # of PyTorch, where it differs from Tidemark
KINDS = {
    "ddp": (rank_programs.ddp, 3), "zero": (rank_programs.zero, 1), "fsdp1": (rank_programs.fsdp1, 5), "fsdp2": (rank_programs.fsdp2, 6),
    "tp": (rank_parts.tensor_parallel, 4), "pipeline": (rank_parts.pipeline, 3), "context": (rank_parts.context, 1.5), "experts": (rank_parts.experts, 1),
    "megatron": (rank_parts.megatron, 1), "collectives": (rank_calls.collectives, 3), "dtensors": (rank_calls.dtensors, 3),
}


def draw(seed, number, kind=None):
    """script number `number` of a seed"""
    r = Rand("%s/%s/ranks" % (seed, number))
    chosen = r.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
    return KINDS[kind or chosen][0](r)


class RankOracle:
    """the real PyTorch as one rank of a script. Requires: TIDEMARK_ORACLE and TIDEMARK_SHARED"""

    def __init__(self):
        path = pathlib.Path(os.environ["TIDEMARK_SHARED"]) / "oracle/program.py"
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location("oracle_program", path)
        self.program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.program)

    def run(self, path, rank, world, settle=False, stacks="", arguments=()):
        """(events, ops, error)"""
        a = self.program.parser().parse_args([str(path), "--rank", str(rank), "--world", str(world), "--quiet", "--limit", "240"])
        a.settle = settle
        got = self.program.run(a, list(arguments), stacks, True, None)
        error = got["facts"]["error"]
        return [(e[0], e[2], e[3], e[1]) for e in got["events"] if e[0] != "snapshot"], got["ops"], error and error["line"] + " at " + error.get("at", "?")


def numbered(events):
    """streams and addresses by first appearance"""
    streams, addresses = {}, {}
    return [(action, size, streams.setdefault(stream, len(streams)), addresses.setdefault(address, len(addresses))) for action, size, stream, address in events]


def run_tidemark(program, path, rank, world, arguments=(), late=False):
    """(events, ops, refusal); `late`: at the latest end of what PyTorch leaves to chance"""
    with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
        out = os.path.join(folder, "events.csv")
        command = [program, "run", str(path), "--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false", "--world", str(world), "--rank", str(rank), "--events", out]
        command += ["--assume", "chance=late" if late else "chance=early"]
        try:
            done = subprocess.run(command + (["--", *arguments] if arguments else []), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        except subprocess.TimeoutExpired:
            return [], [], "no answer in 120 s"
        if not os.path.exists(out) or done.returncode not in (0, 1):
            return [], [], done.stderr.strip() or "exit code %d" % done.returncode
        with open(out, newline="") as file:
            rows = [e for e in csv.DictReader(file) if e["action"] != "snapshot"]
        return [(e["action"], int(e["bytes"]), int(e["stream"]), int(e["address"])) for e in rows], [e["phase"] + ": " + e["op"] for e in rows], ""


def ordered(expected, ours, ops):
    """`expected` with the frees of autocast's cache, which have no order, as `ours` has them"""
    expected, i = list(expected), 0
    while i < len(ours):
        j = i
        while j < len(ours) and NO_ORDER in ops[j]:
            j += 1
        if j > i and j <= len(expected):
            seen = addresses_of(expected[:i])
            if sorted(e[1] for e in expected[i:j]) == sorted(e[1] for e in ours[i:j]):
                back = {number: address for address, number in seen.items()}
                known = addresses_of(ours[:i])
                wanted = [(e[0], e[1], back.get(known.get(e[3]))) for e in ours[i:j]]
                if sorted(map(str, wanted)) == sorted(str((e[0], e[1], e[3])) for e in expected[i:j]):
                    expected[i:j] = [(a, size, expected[i][2], address) for a, size, address in wanted]
        i = max(i + 1, j)
    return expected


def addresses_of(events):
    numbers = {}
    for e in events:
        numbers.setdefault(e[3], len(numbers))
    return numbers


def first_difference(expected, ours, ops=()):
    if ops:
        expected = ordered(expected, ours, ops)
    for i, (a, b) in enumerate(zip(numbered(expected), numbered(ours))):
        if a != b:
            return i
    return None if len(expected) == len(ours) else min(len(expected), len(ours))


def judge(oracle, program, path, rank, world, settle, arguments=()):
    """(verdict, words, index)"""
    try:
        expected, _, error = oracle.run(path, rank, world, settle, arguments=arguments)
    except oracle.program.Failed as failed:
        return "invalid", str(failed)[-300:], 0
    ours, ops, refusal = run_tidemark(program, path, rank, world, arguments)
    if error:
        return "invalid", error, 0
    if refusal:
        return "refused", refusal, len(expected)
    at = first_difference(expected, ours, ops)
    if at is None:
        return "exact", "", len(expected)
    if any(NO_ORDER in op for op in ops) and [e[:2] for e in numbered(ordered(expected, ours, ops))] == [e[:2] for e in numbered(ours)]:
        return "chance", "addresses after autocast's cache was dropped", len(expected)
    late, _, refusal = run_tidemark(program, path, rank, world, arguments, late=True)
    beyond = refusal or chance.explains(expected, ours, late)
    if not beyond and chance.placed(chance.replayed(program, expected)) == chance.placed(expected):
        return "chance", "frees as late, and in such an order, as chance can bring about", len(expected)
    for _ in range(MORE_RUNS):
        again = oracle.run(path, rank, world, settle, arguments=arguments)[0]
        if first_difference(again, ours, ops) is None:
            return "chance", "another run of PyTorch is as ours", len(expected)
    return "differs", "event %d of %d and %d: %s" % (at, len(expected), len(ours), beyond or "other addresses"), at


def show(options, around=10):
    """prints where PyTorch (P) and Tidemark (T) part over one rank of a script"""
    oracle, path = RankOracle(), options.case.resolve()
    expected, ops, error = oracle.run(path, options.rank, options.world, options.settle, "all")
    ours, own, refusal = run_tidemark(options.program, path, options.rank, options.world)
    at = None if refusal else first_difference(expected, ours, own)
    print("P: %s\nT: %s" % (error or "%d events" % len(expected), refusal or "%d events" % len(ours)))
    if at is None:
        print("refused" if refusal else "exact")
        return 0
    theirs, mine = numbered(expected), numbered(ours)
    for i in range(max(0, at - around), at + around):
        mark = "*" if i == at else " "
        print("%s%5d P %s" % (mark, i, shown(theirs, ops, i)))
        print("       T %s" % shown(mine, own, i))
    return 1


def shown(events, ops, i):
    return "%-14s %9d s%d @%d  %s" % (*events[i], ops[i][-260:] if i < len(ops) else "") if i < len(events) else "-"


def hunt(options):
    oracle, verdicts, reasons, began = RankOracle(), collections.Counter(), collections.Counter(), time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    number, events = options.first, 0
    last = options.first + options.draws if options.draws else None
    while number < last if last is not None else time.monotonic() - began < 60 * (options.minutes or 1):
        script = draw(options.seed, number, options.ranks)
        path = options.out / ("%s-%d.py" % (options.seed, number))
        path.write_text(script.text)
        same = True
        for rank in (0, script.world - 1):
            verdict, words, count = judge(oracle, options.program, path.resolve(), rank, script.world, script.settle)
            verdicts[verdict] += 1
            events += count if verdict == "exact" else 0
            same = same and verdict == "exact"
            if verdict not in ("exact",):
                reasons[verdict + ": " + refusal_class(words)] += 1
                print("draw %d (%s) rank %d of %d%s: %s: %s" % (number, script.name, rank, script.world, " settle" if script.settle else "", verdict, words), flush=True)
                if verdict == "invalid":
                    break
        if same:
            path.unlink()
        number += 1
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        print("%5d  %s" % (count, reason))
    print("seed %s: %s; %d events exact; %.0f s" % (options.seed, ", ".join("%d %s" % (verdicts[v], v) for v in ("exact", "chance", "differs", "refused", "invalid")), events, time.monotonic() - began))
    return 1 if verdicts["differs"] else 0
