#!/usr/bin/env python3
"""Records the events of the operator cases of this folder with the real PyTorch: writes events.tsv.gz.

    record.py [--folder DIR] [--out FILE] [GROUP ...]

With groups only these are recorded anew; what is known of the others stays.
PyTorch needs a GPU, or something that passes for one. Each case runs in a process of its own, forked before the device is
opened: its first run is the first work of a process. The cases are read with PyYAML.
"""
import argparse
import gzip
import io
import json
import os
import pathlib
import sys

import torch
import torch._dynamo  # noqa: F401  what the first optimizer would import
import torch.nn.functional as F
import yaml
from torch import nn

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16, "fp64": torch.float64}
HERE = pathlib.Path(__file__).resolve().parent


def program(case, dtype):
    body = case["body"] if "body" in case else "return " + case["run"] + "\n"
    lines = "".join("    " + line + "\n" for line in body.splitlines())
    return ((HERE / "leaves.py").read_text() + case.get("setup", "")
            + "\n\ndef forward():\n" + lines + "\n\nleaves = " + case["leaves"] + "\n")


def run(case, dtype):
    """the text of the events of both runs"""
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cudnn.enabled = case.get("cudnn", True)
    torch.cuda.init()
    marks = []

    def count():
        stats = torch.cuda.memory_stats()
        return stats.get("allocation.all.allocated", 0) + stats.get("allocation.all.freed", 0)

    names = {"torch": torch, "nn": nn, "F": F, "mark": lambda name: marks.append((count(), name)),
             "dt": DTYPES[dtype.removeprefix("amp-")], "no_grad": case.get("no_grad", False)}
    exec(compile(program(case, dtype), "<case>", "exec"), names)
    torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=10 ** 7)
    start = count()
    exec(compile((HERE / "steps.py").read_text(), "steps.py", "exec"), names)
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    out = {"cold": [], "warm": []}
    numbers, phase, at, done = {}, "", 0, 0
    for event in trace:
        if event["action"] not in ("alloc", "free_requested"):
            continue
        while at < len(marks) and marks[at][0] - start <= done:
            if marks[at][1].split(" ")[0] != phase.split(" ")[0]:
                numbers = {}
            phase = marks[at][1]
            at += 1
        done += 1
        if " " not in phase:
            continue
        words = out[phase.split(" ")[0]]
        name = phase.split(" ")[1]
        if not words or words[-1][0] != name:
            words.append([name])
        if event["action"] == "alloc":
            numbers[event["addr"]] = numbers["next"] = numbers.get("next", -1) + 1
            words[-1].append("+%d" % event["size"])
        else:
            number = numbers.pop(event["addr"], None)
            words[-1].append("-earlier" if number is None else "-%d" % number)
    return {key: " ".join(" ".join(part) for part in parts) for key, parts in out.items()}


def in_child(case, dtype):
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        try:
            answer = run(case, dtype)
        except BaseException as error:
            answer = {"error": repr(error)}
        with os.fdopen(write, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        data = pipe.read()
    os.wait()
    return json.loads(data or '{"error": "no answer"}')


def recorded(path):
    """the lines of each group"""
    groups = {}
    if path.exists():
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            groups.setdefault(line.split("\t", 1)[0], []).append(line)
    return groups


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=pathlib.Path, default=HERE)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("groups", nargs="*")
    options = parser.parse_args()
    lines, failed = [], 0
    known = recorded(options.folder / "events.tsv.gz") if options.groups else {}
    for path in sorted(options.folder.glob("*.yaml")):
        if options.groups and path.stem not in options.groups:
            lines += known.get(path.stem, [])
            continue
        for case in yaml.safe_load(path.read_text()):
            for dtype in case["dtypes"]:
                answer = in_child(case, dtype)
                if "error" in answer:
                    failed += 1
                    print("%s / %s / %s: %s" % (path.stem, case["case"], dtype, answer["error"]))
                    continue
                for name in ("cold", "warm"):
                    lines.append("\t".join((path.stem, case["case"], dtype, str(case["shape"]), name, answer[name])))
    data = io.BytesIO()
    with gzip.GzipFile(fileobj=data, mode="wb", mtime=0) as out:
        out.write(("\n".join(lines) + "\n").encode())
    (options.out or options.folder / "events.tsv.gz").write_bytes(data.getvalue())
    print("%d runs, %d cases failed" % (len(lines), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
